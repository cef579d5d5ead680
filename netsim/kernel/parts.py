"""Kernels that only kernels call, `inner` and `part`: as plain functions until an entry that calls them is compiled.

So a file with kernels can be read for what else it says (settings, for one) without numba.
"""

from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any


class Kernel:
    """A function for other kernels to call. For numba it is what `compiled` is; Python calls the function itself."""

    def __init__(self, function: Callable[..., Any], *, is_part: bool) -> None:
        self.py_func, self.is_part = function, is_part
        update_wrapper(self, function)

    @cached_property
    def compiled(self) -> Any:
        """Numba's dispatcher of it."""
        from netsim.kernel.decorators import dispatcher_of

        return dispatcher_of(self.py_func, is_part=self.is_part)

    def __call__(self, *arguments: Any) -> Any:
        """In the interpreter."""
        return self.py_func(*arguments)


def inner(function: Callable[..., Any]) -> Kernel:
    """Called from kernels, rarely."""
    return Kernel(function, is_part=False)


def part(function: Callable[..., Any]) -> Kernel:
    """Part of the kernel that calls it."""
    return Kernel(function, is_part=True)
