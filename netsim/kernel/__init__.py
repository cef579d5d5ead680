"""The one door to numba: how every kernel of netsim is compiled, and where compiled code is kept."""

from netsim.kernel.cache import CACHE_FOLDER, CHECKED
from netsim.kernel.decorators import entry, inner, is_compiled, part
from netsim.kernel.rows import bare, prefetch

__all__ = ["CACHE_FOLDER", "CHECKED", "bare", "entry", "inner", "is_compiled", "part", "prefetch"]
