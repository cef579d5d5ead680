"""What netsim takes from inside numba, beyond its public API; nobody else imports from `numba.core` or `llvmlite`.

numba may change these without notice. So `pyproject.toml` has an upper bound, and `make numba` runs the tests of the
kernels with the oldest and the newest numba that it allows: 0.60.0 and 0.68.1, the last time on 2026-12-01. Of the
public API are `njit`, `config`, `types` and what `numba.extending` gives.
"""

from llvmlite import ir  # the code of an intrinsic
from numba.core import cgutils  # helpers for that code
from numba.core.codegen import JITCodeLibrary  # how the code of a function is optimized: kernel/once.py
from numba.core.compiler import Compiler  # which steps a function goes through: kernel/once.py
from numba.core.imputils import lower_builtin, lower_getattr_generic  # as numba.extending's, for operators
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_global  # types of a[i] and a.b
from numba.np.arrayobj import populate_array  # an array from a pointer and a shape

__all__ = [
    "AbstractTemplate",
    "AttributeTemplate",
    "Compiler",
    "JITCodeLibrary",
    "cgutils",
    "infer_global",
    "ir",
    "lower_builtin",
    "lower_getattr_generic",
    "populate_array",
]
