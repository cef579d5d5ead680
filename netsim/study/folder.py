"""A study's folder: one small file per finished point, written at once and whole, and the table of all of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netsim.errors import InputError, NetsimError, RunError
from netsim.study.metrics import FIGURES
from netsim.study.plan import Plan, Point
from netsim.version import __version__
from netsim.writing import is_folder, plain_errors, write_text, written

if TYPE_CHECKING:
    import pyarrow as pa

    from netsim.study.pool import Finished

MARK = "study.json"
POINTS = "points"
TABLE = "results.parquet"
DONE, FAILED = "done", "failed"
LARGEST_RECORD = 1 << 20  # bytes

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StudyFolder:
    """The folder `path`: study.json, points/<digest>.json and results.parquet."""

    path: Path

    def open(self, name: str) -> None:
        """Make the folder, or go on in one that holds a study; InputError for any other folder that is not empty."""
        if is_folder(self.path) and any(self.path.iterdir()) and not (self.path / MARK).is_file():
            raise InputError("is not empty and holds no study", where=str(self.path), hint="give a new folder")
        with plain_errors(self.path):
            (self.path / POINTS).mkdir(parents=True, exist_ok=True)
        write_text(self.path / MARK, _json({"study": name, "netsim": __version__}))

    def record(self, digest: str) -> Record | None:
        """What was found at a point that is finished; None where there is nothing, or nothing that can be read."""
        try:
            if not self._file(digest).is_file():  # a pipe would never end
                raise FileNotFoundError
            with self._file(digest).open("rb") as file:
                value = json.loads(file.read(LARGEST_RECORD), parse_constant=int)  # NaN is a ValueError
        except (OSError, ValueError, RecursionError):
            return None
        is_ours = isinstance(value, dict) and value.get("digest") == digest and value.get("status") in (DONE, FAILED)
        return value if is_ours and isinstance(value.get("figures"), dict) else None

    def keep(self, point: Point, finished: Finished) -> Record:
        """Write down a point that was run, at once; a crash a moment later loses nothing of it."""
        found = finished.measured
        record = {
            "digest": point.digest,
            "status": FAILED if found is None else DONE,
            "error": finished.error,
            "wall_seconds": None if found is None else found.wall_seconds,
            "netsim": __version__,
            "settings": point.settings,
            "figures": {} if found is None else found.metrics,
            "scenario": point.scenario.to_toml(),
        }
        with self._kept():
            write_text(self._file(point.digest), _json(record))
        return record

    def write_table(self, plan: Plan, records: Mapping[str, Record]) -> pa.Table:
        """Write results.parquet: a row per finished point, in the study's order; same study, same bytes."""
        import pyarrow.parquet as pq

        table = table_of(plan, records)
        with self._kept(), written(self.path / TABLE) as stream:
            pq.write_table(table, stream, compression="zstd")
        return table

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """What is found and cannot be written down stops the study, and nothing is lost but that."""
        try:
            yield
        except NetsimError as error:
            hint = "make room, then run the same command: what is finished is kept"
            raise RunError(error.what, where=error.where, hint=hint) from None

    def _file(self, digest: str) -> Path:
        return self.path / POINTS / f"{digest}.json"


def table_of(plan: Plan, records: Mapping[str, Record]) -> pa.Table:
    """The finished points as a table: point, the varied settings, seed, status, error, digest, and every figure."""
    import pyarrow as pa

    rows = [(point, records[point.digest]) for point in plan.points if point.digest in records]
    scenarios = [point.scenario for point, _ in rows]
    columns = {key: _setting_column([point.settings.get(key) for point, _ in rows]) for key in plan.varied}
    columns["seed"] = pa.array([each.seed for each in scenarios], pa.int64())
    columns.setdefault("trace", pa.array([each.trace.name for each in scenarios], pa.string()))
    columns.setdefault("topology", pa.array([each.topology.title for each in scenarios], pa.string()))
    for name in ("status", "error", "digest"):
        columns[name] = pa.array([str(record[name]) for _, record in rows], pa.string())
    for name, kind in FIGURES.items():
        values = [record["figures"].get(name) for _, record in rows]
        columns[name] = pa.array(values, getattr(pa, kind)())
    return pa.table({"point": pa.array([point.number for point, _ in rows], pa.int64()), **columns})


def _setting_column(values: Sequence[Any]) -> pa.Array:
    """Whole numbers as such, numbers as such, everything else as the text a scenario file would hold."""
    import pyarrow as pa

    given = [value for value in values if value is not None]
    if given and all(type(value) is int for value in given):
        return pa.array(values, pa.int64())
    if given and all(type(value) in (int, float) for value in given):
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    return pa.array([None if value is None else label(value) for value in values], pa.string())


def label(value: Any) -> str:
    """A setting's value as people read it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=1, allow_nan=False, default=str) + "\n"
