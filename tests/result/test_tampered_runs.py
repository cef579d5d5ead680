"""Saved runs whose files somebody changed: one line that names the file, whatever is made of the run."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from netsim.result.tables import TABLES
from tests.cli.command_line import CommandLine

Refused = Callable[[str], str]


@pytest.fixture
def run(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "run"))


COMMANDS = ["report {run}", "trace {run}", "explain {run}", "compare {run} {run}"]


@pytest.fixture
def refused(run: Path, cli: CommandLine) -> Callable[[str], str]:
    """Gives the line, about some file, with which each command refuses the run."""

    def by(file: str) -> str:
        said = {cli.refused(command.format(run=run)) for command in COMMANDS}
        assert len(said) == 1 or not (run / "run.json").is_file()  # then `compare` takes it for no run
        assert all(file in line for line in said)
        return cli.refused("report", run)

    return by


def changed(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    pq.write_table(change(pq.read_table(path)), path)


def with_column(column: str, values: Any, kind: Any = None) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index(column)
        old = table.column(place)
        new = pa.array([values] * len(old) if np.isscalar(values) or values is None else values, kind or old.type)
        return table.set_column(place, column, new)

    return change


def repeat_first_row(path: Path, times: int, **other: str) -> None:
    (row,) = pq.read_table(path).slice(0, 1).to_pylist()
    schema = pq.read_schema(path)
    columns = [pa.repeat(pa.scalar(value, schema.field(name).type), times) for name, value in (row | other).items()]
    pq.write_table(pa.table(columns, schema=schema), path, compression="zstd")


TYPES = [
    ("flows", "src", pa.string(), "0"), ("links", "bytes", pa.float64(), 1.5), ("links", "kind", pa.int64(), 1),
    ("collectives", "op", pa.binary(), b"x"), ("parts", "rank", pa.int32(), 0), ("queues", "link", pa.bool_(), True),
]  # fmt: skip


@pytest.mark.parametrize(("name", "column", "kind", "value"), TYPES)
def test_other_types(name: str, column: str, kind: Any, value: Any, run: Path, refused: Refused) -> None:
    changed(run / f"{name}.parquet", with_column(column, value, kind))
    assert f"holds {kind} in {column}" in refused(f"{name}.parquet")


VALUES = [
    ("flows", "src", 16), ("flows", "dst", -1), ("flows", "collective", 1), ("flows", "channel", 1 << 16),
    ("flows", "bytes", -5), ("flows", "start_ps", (1 << 63) - 1), ("flows", "slowdown", float("inf")),
    ("flows", "src", None), ("parts", "rank", 1 << 40), ("parts", "collective", 7), ("queues", "link", 96),
    ("queues", "time_ps", -1), ("links", "id", 0), ("links", "source", "host99"), ("links", "target", None),
    ("links", "busy_fraction", -0.5), ("links", "rate_bps", 0), ("collectives", "id", 5), ("collectives", "ranks", 17),
    ("collectives", "end_ps", 0), ("collectives", "op", None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "column", "value"), VALUES)
def test_impossible_values(name: str, column: str, value: Any, run: Path, refused: Refused) -> None:
    changed(run / f"{name}.parquet", with_column(column, value))
    if (name, column) == ("collectives", "end_ps"):
        changed(run / f"{name}.parquet", with_column("start_ps", 1))
    refused(f"{name}.parquet")


@pytest.mark.parametrize("name", ["collectives", "links"])
@pytest.mark.parametrize("rows", [0, 2])
def test_other_row_counts(name: str, rows: int, run: Path, refused: Refused) -> None:
    changed(run / f"{name}.parquet", lambda table: pa.concat_tables([table] * rows) if rows else table.slice(0, 0))
    refused("")


@pytest.mark.parametrize("name", TABLES)
def test_tables_that_claim_more_rows_than_a_memory_holds(name: str, run: Path, refused: Refused) -> None:
    """A small file of so many equal rows that they would take gigabytes."""
    repeat_first_row(run / f"{name}.parquet", 3_000_000)
    assert (run / f"{name}.parquet").stat().st_size < 300_000
    assert "claims to hold 3,000,000 rows" in refused(f"{name}.parquet")


def test_a_long_text_in_every_row_is_not_written_out(run: Path, refused: Refused) -> None:
    repeat_first_row(run / "collectives.parquet", 20_000, op="x" * 50_000)
    assert "holds what op never is" in refused("collectives.parquet")


SUMMARIES: list[tuple[str, Any]] = [
    ("completion_time_ps", "soon"), ("completion_time_ps", -1), ("completion_time_ps", 1.5), ("packet_hops", None),
    ("packet_hops", True), ("retransmitted_packets", 1 << 80), ("queue_interval_ps", 0), ("simulate_seconds", []),
    ("simulate_seconds", float("nan")), ("simulate_seconds", -1), ("drops", 5), ("lost", "x"), ("ecn_marks", {}),
    ("collectives", 7), ("bytes", -1), ("worst_links", []), ("worst_links", 3), ("pauses", None),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value"), SUMMARIES)
def test_a_summary_that_is_not_that_of_the_tables(key: str, value: Any, run: Path, refused: Refused) -> None:
    summary = json.loads((run / "summary.json").read_text())
    for tampered in (summary | {key: value}, {name: each for name, each in summary.items() if name != key}):
        (run / "summary.json").write_text(json.dumps(tampered))
        said = refused("summary.json")
        assert key in said or (value != value and "cannot be read as JSON" in said)  # NaN is none


@pytest.mark.parametrize(
    "file", ["run.json", "summary.json", "trace.jsonl.gz", *(f"{name}.parquet" for name in TABLES)]
)
@pytest.mark.parametrize("content", [None, b"", b"{}", b"[" * 50_000, b"null", b'{"a": NaN}', b"\xff\xfe", "folder"])
def test_files_that_are_missing_or_hold_something_else(file: str, content: Any, run: Path, refused: Refused) -> None:
    (run / file).unlink()
    if content == "folder":
        (run / file).mkdir()
    elif content is not None:
        (run / file).write_bytes(content)
    refused("")


@pytest.mark.parametrize("key", ["trace", "netsim", "versions", "host", "seed"])
@pytest.mark.parametrize("value", ["gone", None, 5, [], {"a": 1}])
def test_what_a_run_says_of_itself(key: str, value: Any, run: Path, cli: CommandLine) -> None:
    text = json.loads((run / "run.json").read_text())
    text[key] = value
    if value == "gone":
        del text[key]
    (run / "run.json").write_text(json.dumps(text))
    for command in COMMANDS:
        assert "fault in netsim" not in cli(command.format(run=run)).err


@pytest.mark.parametrize("name", ["summary.json", *(f"{name}.parquet" for name in TABLES)])
def test_a_pipe_in_place_of_a_file_is_not_waited_for(name: str, run: Path, refused: Refused) -> None:
    (run / name).unlink()
    os.mkfifo(run / name)
    assert name in refused(name)
