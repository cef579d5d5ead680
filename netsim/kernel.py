"""The one door to numba: how every kernel of netsim is compiled, and where compiled code is kept.

Numba's own cache does not notice an edit in another file, so the cache folder is named after the hash of all kernel
sources.
"""

import hashlib
import os
import pathlib
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import platformdirs
from llvmlite import ir
from numba import config, njit, types
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


_WORD = ir.IntType(64)
_entries: list[Any] = []


def is_compiled() -> bool:
    """Whether all kernels imported so far are at hand, here or in the cache for this processor; else a run compiles."""
    return bool(_entries) and all(map(_is_kept, _entries))


def _is_kept(kernel: Any) -> bool:
    if kernel.signatures:
        return True
    kept = kernel._cache._cache_file
    processor = kernel.targetctx.codegen().magic_tuple()
    index = kept._load_index().items()  # empty when its source or numba is another one by now
    return any(key[1] == processor and os.path.exists(kept._data_path(name)) for key, name in index)


def entry(function: Callable[..., Any]) -> Any:
    """A kernel that Python calls: the only kind that is kept in the cache, with all it calls inside."""
    others = config.CACHE_DIR
    config.CACHE_DIR = str(CACHE_FOLDER)
    try:
        kernel = njit(cache=True, boundscheck=CHECKED, error_model="numpy")(function)
    finally:
        config.CACHE_DIR = others  # the caller's own numba functions keep their own cache
    if not config.DISABLE_JIT:
        _entries.append(kernel)
    return kernel


def _within(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """For what only kernels call: without the wrappers for Python it compiles in half the time."""
    compiled: Any = njit
    decorator: Callable[[Callable[..., Any]], Any] = compiled(
        boundscheck=CHECKED, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, **options
    )
    return decorator


inner = _within()  # called from kernels, rarely
part = _within(forceinline=True)  # part of the kernel that calls it


if config.DISABLE_JIT:

    def bare(world):
        """The same tables: the interpreter has no counts to strip, but rows must read as records."""
        return type(world)(*(table.view(_np_recarray) if table.dtype.names else table for table in world))

    from numpy import recarray as _np_recarray

    def prefetch(table, row, line):
        """Nothing: the interpreter does not wait for memory."""
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

    @intrinsic
    def prefetch(typing, table, row, line):
        """Ask for a cache line (the `line`-th of that row) that will be needed soon, without waiting for it."""

        def codegen(context, builder, signature, args):
            table_type, row_type, line_type = signature.args
            start = builder.ptrtoint(context.make_array(table_type)(context, builder, args[0]).data, _WORD)
            at = builder.mul(
                context.cast(builder, args[1], row_type, types.int64), _WORD(table_type.dtype.bitwidth // 8)
            )
            at = builder.add(at, builder.shl(context.cast(builder, args[2], line_type, types.int64), _WORD(6)))
            pointer = builder.inttoptr(builder.add(start, at), ir.IntType(8).as_pointer())
            flag = ir.IntType(32)
            form = ir.FunctionType(ir.VoidType(), [pointer.type, flag, flag, flag])
            hint = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], form)
            for_reading, keep, data = flag(0), flag(3), flag(1)
            builder.call(hint, [pointer, for_reading, keep, data])
            return context.get_dummy_value()

        return types.void(table, row, line), codegen
