"""Result: what a run produced, as tables and a summary, with its scenario; saved and loaded as one folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from netsim import hooks
from netsim.config import load_scenario
from netsim.config.scenario import Scenario
from netsim.errors import InputError
from netsim.result.checking import check_summary, check_tables, check_writes_down, read_parquet
from netsim.result.folder import MARK, check_writable, read_json, write_json, write_parquet, written_whole
from netsim.result.reason import Reason
from netsim.result.tables import TABLES, RawResult, tables_of
from netsim.result.totals import provenance_of, summary_of
from netsim.traces import write_native

__all__ = ["Result", "check_writable"]


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """Tables `collectives`, `parts`, `flows`, `links`, `queues` (ps, bytes), a summary, and the scenario.

    `algbw_gbs` = bytes / time in 10^9 B/s and `busbw_gbs` as nccl-tests define them. `slowdown` = time / ideal, never
    below 1; of a run: all times over all ideals. Ideal is the time of the same chunk flows alone, where nothing but the
    links of hosts is shared (`core.floors`); of a flow: alone on its path, or over all that it may be sprayed on.
    Where the trace holds the durations of a real run, `against_recorded` = `together_ps` / `recorded_ps`: both are
    counted from when the last rank came. A flow's time ends with its last byte at the receiver; NaN if it never did.
    `busy_fraction` is the share of the run in which a link was sending; of one that sends ACKs or copies after the end,
    the share of the time until its last bit. `parts` tells when each rank began and finished its part of a collective.
    `queues` is sampled, where packets wait; its sent_bytes, ecn_marks, drops and paused_ps are those of the link since
    the beginning.
    """

    collectives: pd.DataFrame
    parts: pd.DataFrame
    flows: pd.DataFrame
    links: pd.DataFrame
    queues: pd.DataFrame
    summary: dict[str, Any]
    scenario: Scenario
    provenance: dict[str, Any]

    @classmethod
    def of(cls, raw_result: RawResult, scenario: Scenario) -> Result:
        """Make the tables of what a run measured, and derive what follows from it."""
        found = tables_of(raw_result)
        summary = summary_of(raw_result.totals, found["collectives"], found["links"])
        return cls(**found, summary=summary, scenario=scenario, provenance=provenance_of(scenario))

    @property
    def reason(self) -> Reason:
        """What limited the run; found when first asked for, by simulating it once more, and kept in the summary."""
        known: Reason | None = Reason.read(self.summary.get("reason"))
        if known is None:
            known = hooks.reason_of_run(self)
            self.summary["reason"] = known.as_json()
        return known

    def summary_text(self) -> str:
        """The summary for people: what each collective took, what limited the run, where it queued."""
        return hooks.summary_text(self)

    def __repr__(self) -> str:
        counts = f"{len(self.collectives):,} collectives, {len(self.flows):,} flows, {len(self.links):,} links"
        return f"Result({self.scenario}: {counts})"

    def flows_of(self, collective: int) -> pd.DataFrame:
        """The flows of one collective, by its id."""
        return self.flows[self.flows["collective"] == collective]

    def link(self, source: str, target: str) -> pd.Series[Any]:
        """The row of the link between two nodes, by their names; InputError when there is none."""
        found = self.links[(self.links["source"] == source) & (self.links["target"] == target)]
        if found.empty:
            raise InputError(f"no link {source}->{target}", hint="see the columns source and target of result.links")
        return found.iloc[0]

    def save(self, folder: str | Path) -> None:
        """Write run.json, summary.json, the trace and one Parquet file per table: all of it or nothing.

        A folder that holds an earlier result is replaced, any other folder that is not empty is refused. The Parquet
        files of equal scenarios are equal byte for byte: what differs from run to run is in the JSON files alone.
        """
        check_writes_down(self.scenario, Path(folder))
        with written_whole(Path(folder)) as draft:
            for name in TABLES:
                write_parquet(getattr(self, name), name, draft / f"{name}.parquet")
            write_native(self.scenario.trace, draft / "trace.jsonl.gz")
            write_json(draft / "summary.json", self.summary)
            write_json(draft / MARK, {**self.provenance, "scenario": self.scenario.as_tables("trace.jsonl.gz")})

    @classmethod
    def load(cls, folder: str | Path) -> Result:
        """Read a saved result back, its scenario included, so that it can be run again. Raises InputError."""
        folder = Path(folder)
        if not (folder / MARK).is_file():
            raise InputError("is no saved result", where=str(folder), hint="give a folder that --out or save() wrote")
        scenario = load_scenario(folder / MARK)
        provenance = {key: value for key, value in read_json(folder / MARK).items() if key != "scenario"}
        if provenance.get("digest") != scenario.digest():
            raise InputError("holds another scenario than was run", where=str(folder), hint="run it again")
        read = {name: read_parquet(name, folder / f"{name}.parquet") for name in TABLES}
        summary = read_json(folder / "summary.json")
        check_tables(read, scenario, folder)
        check_summary(summary, read, folder / "summary.json")
        return cls(**read, summary=summary, scenario=scenario, provenance=provenance)
