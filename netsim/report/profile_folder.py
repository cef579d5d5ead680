"""A profile saved: profile.json and one Parquet file per table, all of it or nothing."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from netsim.profile import Profile
from netsim.report.profile_json import profile_table
from netsim.result.folder import check_writable, write_json, written_whole

MARK = "profile.json"
TABLES = (*("operations", "sizes", "distribution", "groups", "streams", "ranks", "traffic", "bursts", "requests"),)


def check_profile_folder(folder: Path) -> None:
    """Refuse a place where a profile cannot be saved."""
    check_writable(folder, is_profile)


def is_profile(folder: Path) -> bool:
    """Whether a folder holds a profile and nothing else, so that replacing it loses nothing of anybody's."""
    ours = {MARK, *(f"{name}.parquet" for name in TABLES)}
    return (folder / MARK).is_file() and {each.name for each in folder.iterdir()} <= ours


def save_profile(profile: Profile, folder: Path) -> None:
    """Write a profile; an earlier profile there is replaced, any other folder that is not empty is refused."""
    with written_whole(folder, is_profile) as draft:
        for name in TABLES:
            table = _table(profile, name)
            if table is not None:
                parquet = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
                pq.write_table(parquet, draft / f"{name}.parquet", compression="zstd")
        write_json(draft / MARK, profile_table(profile))


def _table(profile: Profile, name: str) -> pd.DataFrame | None:
    """A table by its name; None for the bursts of a trace without times."""
    if name == "traffic":
        return profile.traffic.table
    if name == "bursts":
        return None if profile.bursts is None else profile.bursts.table
    table: pd.DataFrame = getattr(profile, name)
    return table
