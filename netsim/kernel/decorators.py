"""How numba compiles the kernels: an `entry`, which Python calls, and what only kernels call (kernel/parts.py)."""

import os
from collections.abc import Callable
from typing import Any

from numba import config, njit
from numba.extending import typeof_impl

from netsim.kernel.cache import CACHE_FOLDER, CHECKED
from netsim.kernel.once import ApartCompiler, DraftCompiler, WholeCompiler
from netsim.kernel.parts import Kernel

_entries: list[Any] = []


def is_compiled(name: str) -> bool:
    """Whether the kernel of that name has been imported and is at hand, here or in the cache for this processor."""
    return any(kernel.__name__ == name and _is_kept(kernel) for kernel in _entries)


def _is_kept(kernel: Any) -> bool:
    if kernel.signatures:
        return True
    kept = kernel._cache._cache_file
    processor = kernel.targetctx.codegen().magic_tuple()
    index = kept._load_index().items()  # empty when its source or numba is another one by now
    return any(key[1] == processor and os.path.exists(kept._data_path(name)) for key, name in index)


def entry(function: Callable[..., Any]) -> Any:
    """A kernel that Python calls: the only kind that is kept in the cache, with all it calls inside.

    It lets other threads run meanwhile: one of them hears Ctrl-C.
    """
    others = config.CACHE_DIR
    config.CACHE_DIR = str(CACHE_FOLDER)
    try:
        options: dict[str, Any] = {"boundscheck": CHECKED, "error_model": "numpy", "pipeline_class": WholeCompiler}
        kernel = njit(cache=True, nogil=True, **options)(function)
    finally:
        config.CACHE_DIR = others  # the caller's own numba functions keep their own cache
    if not config.DISABLE_JIT:
        _entries.append(kernel)
    return kernel


@typeof_impl.register(Kernel)
def _type_of_kernel(kernel: Kernel, context: Any) -> Any:
    """What numba makes of an `inner` kernel or a `part` that a kernel calls."""
    if kernel.compiled is None:
        compiled: Any = njit
        kernel.compiled = compiled(
            boundscheck=CHECKED,
            error_model="numpy",
            no_cpython_wrapper=True,
            no_cfunc_wrapper=True,
            pipeline_class=DraftCompiler if kernel.is_part else ApartCompiler,
            forceinline=kernel.is_part,
        )(kernel.py_func)
    return typeof_impl(kernel.compiled, context)
