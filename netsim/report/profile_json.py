"""A profile for machines: plain values with fixed names."""

from typing import Any

import pandas as pd

from netsim.profile import Profile

MOST_PAIRS = 100_000  # of the traffic matrix; the Parquet files have them all


def profile_table(profile: Profile) -> dict[str, Any]:
    """The profile as one JSON object; numbers of bytes are whole where they can be."""
    pairs = profile.traffic.table.nlargest(MOST_PAIRS, "bytes", keep="first")
    return {
        "trace": profile.trace.name,
        "ranks": profile.known_ranks,
        "parallelism": [{"groups": many, "ranks": size} for many, size in profile.parallelism()],
        "operations": rows(profile.operations),
        "sizes": rows(profile.sizes),
        "distribution": rows(profile.distribution),
        "groups": [{**row, "members": _members(profile, row["group"])} for row in rows(profile.groups)],
        "streams": rows(profile.streams),
        "per_rank": rows(profile.ranks),
        "bursts": None if profile.bursts is None else profile.bursts.summary(),
        "traffic": {
            "bytes": profile.traffic.bytes,
            "fabric": profile.fabric or None,
            "bytes_leaving_server": profile.leaving_bytes,
            "share_leaving_server": profile.leaving_share,
            "left_out": dict(profile.traffic.left_out),
            "pairs": rows(pairs),
        },
        "read": profile.read,
        "notes": list(profile.trace.notes),
    }


def rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """A table as a list of plain objects."""
    return [{str(name): _plain(value) for name, value in row.items()} for row in table.to_dict("records")]


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _members(profile: Profile, group: str) -> list[int] | None:
    """The ranks of a group; None for what runs on none."""
    return list(profile.trace.groups[group].ranks) if group in profile.trace.groups else None
