"""A result's folder: Parquet files that depend on the scenario alone, JSON, and a save that is whole or not there."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from netsim.errors import InputError
from netsim.result.tables import ARROW, TABLES
from netsim.writing import LONGEST_DRAFT, check_kind, plain_errors

MARK = "run.json"
DRAWN = ("report.html", "run.perfetto.json.gz")  # what may be made of a result later, in its folder

Ours = Callable[[Path], bool]  # whether a folder may be replaced: it holds what netsim has written, and nothing else


def is_result(folder: Path) -> bool:
    """Whether a folder holds a result, what was drawn of it, and nothing else: nothing of anybody is lost with it."""
    ours = {MARK, "summary.json", "trace.jsonl.gz", *(f"{name}.parquet" for name in TABLES), *DRAWN}
    return (folder / MARK).is_file() and {each.name for each in folder.iterdir()} <= ours


def check_writable(folder: str | Path, ours: Ours = is_result) -> None:
    """Refuse a place where a result cannot be saved: a file, or a folder that holds something other than a result."""
    folder = Path(folder)
    with plain_errors(folder):
        check_kind(folder, stat.S_ISDIR, "give a folder to save in")
        if folder.is_dir() and any(folder.iterdir()) and not ours(folder):
            raise InputError("is not empty and holds no result", where=str(folder), hint="give a new folder")
        above = next(each for each in folder.absolute().parents if each.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise InputError("cannot be written to", where=str(above), hint="give another folder")


@contextmanager
def written_whole(folder: Path, ours: Ours = is_result) -> Iterator[Path]:
    """Give a draft folder to write in; it takes the place of `folder` when all went well, and vanishes otherwise."""
    check_writable(folder, ours)
    folder = folder.absolute()
    draft = folder.parent / f".{folder.name[:LONGEST_DRAFT]}.{secrets.token_hex(4)}"
    with plain_errors(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft.mkdir()
        try:
            yield draft
            _put_in_place(draft, folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def _put_in_place(draft: Path, folder: Path) -> None:
    """Swap the draft in; the older result steps aside first, and comes back if the draft cannot take its place."""
    if not folder.exists():
        draft.replace(folder)
        return
    aside = draft.with_name(f"{draft.name}.old")
    folder.replace(aside)
    try:
        draft.replace(folder)
    except OSError:
        aside.replace(folder)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def write_parquet(table: pd.DataFrame, name: str, path: Path) -> None:
    """Write one table with its fixed columns and nothing of pandas' own, so that equal tables are equal bytes."""
    schema = pa.schema([pa.field(column, getattr(pa, ARROW[kind])()) for column, kind in TABLES[name].items()])
    columns = [pa.array(table[field.name], type=field.type, from_pandas=True) for field in schema]
    pq.write_table(pa.Table.from_arrays(columns, schema=schema), path, compression="zstd")


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write JSON for people and machines alike."""
    path.write_text(json.dumps(value, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; InputError when it is none."""
    try:
        if not path.is_file():  # a pipe would never end
            raise FileNotFoundError
        value = json.loads(path.read_text(encoding="utf-8"), parse_constant=int)  # NaN is a ValueError
    except (OSError, ValueError, RecursionError):
        raise InputError("cannot be read as JSON", where=str(path), hint="run the scenario again") from None
    if not isinstance(value, dict):
        raise InputError("is not a JSON object", where=str(path), hint="run the scenario again")
    return value
