"""What must hold of a saved run before anything is made of it: anybody may have changed its files."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from netsim.config import build_scenario
from netsim.config.scenario import Scenario
from netsim.core.state.dtypes import NEVER
from netsim.errors import InputError, NetsimError
from netsim.result.tables import ARROW, TABLES
from netsim.result.totals import COUNTED, NOT_OF_THE_TABLES, summary_of

INTERVAL = "queue_interval_ps"  # not 0: times are divided by it
CHANNELS = 1 << 16
MOST_ROWS = 1 << 20  # of a table, whatever its file's size; and beyond that
ROWS_PER_BYTE = 8  # of the file: equal rows pack well, but times differ
MOST_TEXT = 1 << 28  # bytes of a column of texts, each written out
MAYBE_NEVER = ("end_ps", "delivered_ps", "acked_ps", "recorded_ps", "ideal_ps")  # -1
MEND = "run the scenario again"


def read_parquet(name: str, path: Path) -> pd.DataFrame:
    """Read one table back; InputError when it is missing or broken, has other columns, types or impossible values."""
    try:
        if not path.is_file():  # a pipe would never end
            raise FileNotFoundError
        file = pq.ParquetFile(path, read_dictionary=[key for key, kind in TABLES[name].items() if kind == "string"])
        _check_schema(name, path, file.schema_arrow)
        if file.metadata.num_rows > max(MOST_ROWS, ROWS_PER_BYTE * path.stat().st_size):
            raise _wrong(path, f"claims to hold {file.metadata.num_rows:,} rows")
        table = file.read()
        _check_values(name, path, table)
        return pd.DataFrame({column: _values(table[column], kind) for column, kind in TABLES[name].items()})
    except NetsimError:
        raise
    except Exception:  # whatever a broken file makes of the library that reads it
        raise InputError("cannot be read as Parquet", where=str(path), hint=MEND) from None


def _check_schema(name: str, path: Path, schema: pa.Schema) -> None:
    if schema.names != list(TABLES[name]):
        raise _wrong(path, f"has other columns than {name}")
    for column, kind in TABLES[name].items():
        found = schema.field(column).type
        found = found.value_type if pa.types.is_dictionary(found) else found
        if found != getattr(pa, ARROW[kind])():
            raise _wrong(path, f"holds {found} in {column}, where {kind} belongs")


def _check_values(name: str, path: Path, table: pa.Table) -> None:
    for column, kind in TABLES[name].items():
        values = table[column]
        if kind == "double":
            found = values.drop_null().to_numpy()
            is_wrong = bool((np.isinf(found) | (found < 0)).any())
        elif kind == "string":
            is_wrong = bool(values.null_count) or _text_bytes(values) > MOST_TEXT
        else:
            low = -1 if column in MAYBE_NEVER else 0
            bounds = pc.min_max(values).as_py() if len(values) else {"min": 0, "max": 0}
            is_wrong = bool(values.null_count) or not (low <= bounds["min"] <= bounds["max"] <= NEVER)
        if is_wrong:
            raise _wrong(path, f"holds what {column} never is")


def _text_bytes(values: pa.ChunkedArray) -> int:
    """How long a column of dictionaries would be with every text written out."""
    return sum(
        int(pc.sum(pc.binary_length(chunk.dictionary).take(chunk.indices)).as_py() or 0) for chunk in values.chunks
    )


def _values(column: pa.ChunkedArray, kind: str) -> Any:
    if kind == "string":  # one object for each different text
        return column.to_pandas().astype(object).to_numpy()
    return column.to_numpy()


def check_tables(tables: Mapping[str, pd.DataFrame], scenario: Scenario, folder: Path) -> None:
    """Do the tables of a run go together, and with its scenario? InputError names the first file that does not."""
    network, ranks = scenario.topology.build(), scenario.trace.ranks
    count, links = len(tables["collectives"]), len(network.links)
    ends = {"source": [network.node_name(link.source) for link in network.links]}
    ends |= {"target": [network.node_name(link.target) for link in network.links], "kind": network.kinds}
    exact: list[tuple[str, str, Any]] = [
        ("collectives", "id", np.arange(count)),
        ("links", "id", np.arange(links)),
        ("links", "rate_bps", network.rate_bps),
        *(("links", name, np.array(column, object)) for name, column in ends.items()),
    ]
    for name, column, values in exact:
        if not np.array_equal(tables[name][column].to_numpy(), values):
            raise _wrong(folder / f"{name}.parquet", f"has other values in {column} than the scenario makes")
    below = [("parts", "collective", count), ("parts", "rank", ranks), ("flows", "collective", count)]
    below += [("flows", "src", ranks), ("flows", "dst", ranks), ("flows", "channel", CHANNELS)]
    below += [("queues", "link", links), ("collectives", "ranks", ranks + 1)]
    for name, column, most in below:
        if tables[name][column].max() >= most:
            raise _wrong(folder / f"{name}.parquet", f"names {tables[name][column].max():,} in {column}, of {most:,}")
    if (tables["collectives"]["end_ps"] < tables["collectives"]["start_ps"]).any():
        raise _wrong(folder / "collectives.parquet", "holds what ends before it starts")


def check_writes_down(scenario: Scenario, folder: Path) -> None:
    """Refuse a scenario that its file would not give back, as one with a class of the user's own, when it is saved."""
    try:
        tables = json.loads(json.dumps(scenario.as_tables("")))
        again = build_scenario(scenario.trace, **{name: each for name, each in tables.items() if name != "trace"})
    except (TypeError, ValueError):  # InputError is one, and what pydantic and json say of values without words
        again = None
    parts = {name: (getattr(scenario, name), getattr(again, name, None)) for name in ("topology", "routing")}
    own = next((name for name, (part, found) in parts.items() if type(part) is not type(found)), "")
    if again != scenario or own:
        what = f"{own or 'scenario'} cannot be written down"
        what += f": nobody who opens the file knows the class {type(parts[own][0]).__name__}" if own else ""
        hint = "enter the class under its kind in netsim.topology.TOPOLOGIES, wherever the file is opened"
        raise InputError(what, where=str(folder), hint=hint if own == "topology" else "use what a file can say")


def check_summary(summary: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], path: Path) -> None:
    """Does a summary hold its figures, and are they those of the tables? InputError names the first that is not."""
    for name in COUNTED:
        value = summary.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not (name == INTERVAL) <= value <= NEVER:
            raise _wrong(path, f"has no {name}")
    seconds = summary.get("simulate_seconds")
    if not isinstance(seconds, int | float) or not math.isfinite(seconds) or seconds < 0:
        raise _wrong(path, "has no simulate_seconds")
    totals = {name: summary[name] for name in (*COUNTED, "simulate_seconds")}
    again = summary_of(totals, tables["collectives"], tables["links"])
    for name, value in again.items():
        if name not in NOT_OF_THE_TABLES and summary.get(name) != value:
            raise _wrong(path, f"tells another {name} than the tables")


def _wrong(path: Path, what: str) -> InputError:
    return InputError(what, where=str(path), hint=MEND)
