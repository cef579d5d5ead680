"""Printing: one way to show a table, one way to show JSON."""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], words: Sequence[str] = ()) -> None:
    """Print rows under columns on stdout, aligned; columns are numbers, set right, but for those named in `words`."""
    from netsim.report.text import columns as aligned

    if title:
        print(title)
    cells = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    print(aligned(columns, cells, [place for place, name in enumerate(columns) if name in words]))


def as_json(value: Any) -> None:
    """Print a value as JSON on stdout; numpy's numbers become plain ones."""
    print(json.dumps(value, indent=2, default=_plain, allow_nan=False))


def note(text: str) -> None:
    """Say something to the person, not to the pipe."""
    sys.stderr.write(f"netsim: {text}\n")


def refuse_unwritable(*files: Path | None) -> None:
    """Raise InputError for a file that was asked for and cannot be written: before the work, not after it."""
    from netsim.writing import check_file

    for file in files:
        if file is not None:
            check_file(file)


def written(file: Path | None, text: Callable[[], str], what: str = "wrote") -> None:
    """Write a file that was asked for, and say so."""
    from netsim.writing import write_text

    if file is not None:
        write_text(file, text())
        note(f"{what} {file}")


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)
