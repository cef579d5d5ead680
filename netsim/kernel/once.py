"""Every kernel is optimized and turned into machine code once, within the entry that it belongs to.

Numba does both for each function by itself, with all it calls inside, and again for whatever calls that. Here what only
kernels call stays a draft until an entry gathers all its drafts: that takes a fifth of the time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba import config

from netsim.kernel.numba_internals import Compiler, JITCodeLibrary


@contextmanager
def _levels() -> Iterator[None]:
    """Optimize as -O2 does and vectorize nothing: kernels branch all the time, and -O3 takes a sixth longer for it."""
    ours = {"OPT": type(config.OPT)(2), "LOOP_VECTORIZE": 0, "SLP_VECTORIZE": 0}
    before = {name: getattr(config, name) for name in ours}
    try:
        vars(config).update(ours)
        yield
    finally:
        vars(config).update(before)  # functions that users compile are theirs


class _NoMachineCode:
    """A code generator for drafts: there is nothing in memory yet whose environment could be set."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: object) -> None:
        """Nothing."""


class Draft(JITCodeLibrary):
    """The code of one function, not of what it calls, as it was written down."""

    @property
    def codegen(self) -> Any:
        """The code generator, as numba asks for it when the library is done."""
        return _NoMachineCode(self._codegen)

    def _optimize_functions(self, ll_module: Any) -> None:
        """All of it is optimized in the entry."""
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Nothing more can be added."""
        self._raise_if_finalized()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """No function has an address yet."""
        return 0


class Apart(Draft):
    """A function that is called, and not copied to where it is called from."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Say so in the text: llvmlite 0.43 gives an attribute that is added later to what the function returns."""
        for function in ir_module.functions:
            if not function.is_declaration:
                function.attributes.add("noinline")
        super().add_ir_module(ir_module)


class Whole(JITCodeLibrary):
    """An entry's code with that of all drafts it calls, directly or not."""

    def finalize(self) -> None:
        """Gather, optimize and make machine code."""
        gathered = self._linking_libraries
        for library in gathered:  # grows under way
            if isinstance(library, Draft):
                gathered += [each for each in library._linking_libraries if each not in gathered]
        with _levels():
            super().finalize()


class DraftCompiler(Compiler):
    """Compiles into a Draft."""

    kind: type[JITCodeLibrary] = Draft

    def define_pipelines(self) -> Any:
        """Numba's own passes, which fill the library that is there."""
        library = self.kind(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        library.enable_object_caching()
        self.state.library = library
        return super().define_pipelines()


class ApartCompiler(DraftCompiler):
    """Compiles into a draft that stays a function of its own."""

    kind = Apart


class WholeCompiler(DraftCompiler):
    """Compiles into a Whole."""

    kind = Whole
