"""The one door to numba: how every kernel of netsim is compiled, and where compiled code is kept.

Numba's own cache does not notice an edit in another file, so the cache folder is named after the hash of all kernel sources.
"""

import hashlib
import os
import pathlib
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import platformdirs
from numba import config, njit
from numba.core import cgutils
from numba.extending import intrinsic

CHECKED = os.environ.get("NETSIM_CHECKED", "") == "1"  # bounds checks on every table access
_HOME = pathlib.Path(__file__).parent


def _sources_digest() -> str:
    digest = hashlib.sha256(b"checked" if CHECKED else b"")
    paths = [_HOME / "kernel.py", *sorted(_HOME.glob("core/*.py")), *sorted(_HOME.glob("transport/*.py"))]
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> pathlib.Path:
    root = os.environ.get("NETSIM_CACHE_DIR") or platformdirs.user_cache_dir("netsim")
    folder = pathlib.Path(root) / "kernels" / _sources_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        warnings.warn(
            f"{folder}: cannot be written ({error.strerror}), so kernels are compiled anew in every process; "
            "set NETSIM_CACHE_DIR to a folder of yours",
            RuntimeWarning,
            stacklevel=2,
        )
        return pathlib.Path(tempfile.mkdtemp(prefix="netsim-kernels-"))


CACHE_FOLDER = _cache_folder()


def is_compiled() -> bool:
    """Whether an earlier process has left compiled kernels of exactly these sources."""
    return any(CACHE_FOLDER.rglob("*advance*.nbc"))


def _kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    def compile_lazily(function: Callable[..., Any]) -> Any:
        others = config.CACHE_DIR
        config.CACHE_DIR = str(CACHE_FOLDER)
        try:
            return njit(cache=True, boundscheck=CHECKED, error_model="numpy", **options)(function)
        finally:
            config.CACHE_DIR = others  # the caller's own numba functions keep their own cache

    return compile_lazily


_INSIDE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # without the wrappers it compiles in half the time
entry = _kernel()  # called from Python
inner = _kernel(**_INSIDE)  # called from kernels, rarely
part = _kernel(forceinline=True, **_INSIDE)  # part of the kernel that calls it


if config.DISABLE_JIT:

    def bare(world):
        """The same tables: the interpreter has no counts to strip, but rows must read as records."""
        return type(world)(*(table.view(_np_recarray) if table.dtype.names else table for table in world))

    from numpy import recarray as _np_recarray
else:

    @intrinsic
    def bare(typing, world):
        """The same tables without owners, so that passing them around costs no reference counting (7 times faster)."""

        def codegen(context, builder, signature, args):
            (world_type,) = signature.args
            tables = []
            for table_type, value in zip(world_type, cgutils.unpack_tuple(builder, args[0]), strict=True):
                table = context.make_array(table_type)(context, builder, value)
                table.meminfo = cgutils.get_null_value(table.meminfo.type)
                table.parent = cgutils.get_null_value(table.parent.type)
                tables.append(table._getvalue())
            return context.make_tuple(builder, world_type, tables)

        return world(world), codegen
