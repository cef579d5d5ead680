"""Kernels that only kernels call, `inner` and `part`: as plain functions until an entry that calls them is compiled.

So a file with kernels can be read for what else it says (settings, for one) without numba.
"""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any


class Kernel:
    """A function for kernels to call; kernel/decorators.py says what numba makes of it, Python calls it as it is."""

    compiled: Any = None  # by numba, as soon as a kernel is compiled that calls it

    def __init__(self, function: Callable[..., Any], *, is_part: bool) -> None:
        self.py_func, self.is_part = function, is_part
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        """In the interpreter."""
        return self.py_func(*arguments)


def inner(function: Callable[..., Any]) -> Kernel:
    """Called from kernels, rarely."""
    return Kernel(function, is_part=False)


def part(function: Callable[..., Any]) -> Kernel:
    """Part of the kernel that calls it."""
    return Kernel(function, is_part=True)
