"""Kernels as the plain functions they were written as."""

from collections.abc import Callable
from typing import Any


def plain(kernel: Any) -> Callable[..., Any]:
    """The Python function of a kernel that calls no other kernel."""
    function: Callable[..., Any] = getattr(kernel, "py_func", kernel)
    return function
