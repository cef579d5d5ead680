"""The one door to numba: how every kernel of netsim is compiled, and where compiled code is kept.

Numba itself is loaded when the first entry is: who only asks for the folder does not wait for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from netsim.kernel.cache import CACHE_FOLDER, CHECKED
from netsim.kernel.parts import Kernel, inner, part

if TYPE_CHECKING:
    from netsim.kernel.decorators import entry, is_compiled
    from netsim.kernel.record_rows import bare, prefetch

__all__ = ["CACHE_FOLDER", "CHECKED", "Kernel", "bare", "entry", "inner", "is_compiled", "part", "prefetch"]

_HOME = {
    **dict.fromkeys(("entry", "is_compiled"), "netsim.kernel.decorators"),
    **dict.fromkeys(("bare", "prefetch"), "netsim.kernel.record_rows"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'netsim.kernel' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value
