"""This Python and this netsim as processes of their own."""

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

HOME = Path(__file__).parent.parent
PATIENCE = 300  # s; only a hanging test waits so long
HEAVY = {"numba", "numpy", "pandas", "pyarrow", "pydantic", "networkx", "simpy"}


def started(*arguments: str, folder: Path = HOME, **streams: IO[str]) -> subprocess.Popen[str]:
    """Python, the first of a group of its own; `streams` are stdout and stderr, if not pipes."""
    return subprocess.Popen(
        [sys.executable, "-P", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(HOME)},
        text=True,
        start_new_session=True,
        stdout=streams.get("stdout", subprocess.PIPE),
        stderr=streams.get("stderr", subprocess.PIPE),
    )


def finished(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """The exit code of a process, and what it said on stdout and stderr."""
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def loaded(program: str) -> set[str]:
    """What a program imports of the libraries that take long."""
    tail = f"import sys; print(sorted({HEAVY} & set(sys.modules)), file=sys.stderr)"
    code, _, told = finished(started("-c", f"{program}\n{tail}"))
    assert code == 0, told
    return set(ast.literal_eval(told))
