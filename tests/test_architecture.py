"""What imports what, and how long files and functions are: packages import downwards only, nothing in a circle."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "netsim"
FILES = sorted(SOURCE.rglob("*.py"))

LAYERS = [  # top down; a package imports only packages of layers below its own
    ["cli", "__init__", "__main__"],
    ["validate", "study", "explain"],
    ["report", "simulation"],
    ["result", "profile"],
    ["config"],
    ["routing", "core"],
    ["traces"],
    ["collectives", "topology", "transport"],
    ["queues"],
    ["units", "kernel", "writing"],
    ["errors", "version", "hooks"],
]
HEIGHT = {package: -number for number, layer in enumerate(LAYERS) for package in layer}
MAY_IMPORT = {  # which packages may import a library that is slow to load or ties the code to it
    "simpy": {"simulation"},
    "numba": {"kernel"},
    "networkx": {"topology", "routing"},
    "pandas": {"cli", "validate", "study", "report", "result", "profile", "traces"},
    "joblib": {"study"},
    "dask": set(),
    "distributed": {"study"},
}


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")


def package_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


MODULES = {module_of(path): path for path in FILES}


def imports(text: str) -> set[str]:
    """Every module that a source text imports: in functions, for type checkers only, and by a name in a text, too."""
    return {module for node in ast.walk(ast.parse(text)) for module in _imported(node)}


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        for name in (f"{module}.{alias.name}" for alias in node.names):
            yield name if name in MODULES else module
    elif isinstance(node, ast.Constant) and node.value in MODULES and node.value != "netsim":
        yield str(node.value)
    elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
        start = str(node.values[0].value)  # as in import_module(f"netsim.traces.{name}")
        yield from (each for each in MODULES if start.startswith("netsim.") and each.startswith(start))


def breaches(package: str, text: str) -> list[str]:
    """What a file of `package` imports and must not."""
    found = []
    for module in sorted(imports(text)):
        top, *rest = module.split(".")
        if top == "" and "." in module:
            found.append(f"{package}: relative import {module}; write netsim.{package}...")
        elif top == "netsim":
            other = rest[0] if rest and rest[0] in HEIGHT else "__init__"
            if other != package and HEIGHT[other] >= HEIGHT[package] and package not in ("__init__", "__main__"):
                found.append(f"{package} imports {module}, which is not below it")
        elif package not in MAY_IMPORT.get(top, {package}):
            found.append(f"{package} imports {top}, which only {sorted(MAY_IMPORT[top])} may")
    return found


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_a_file_imports_only_what_is_below_its_package(path: Path) -> None:
    assert package_of(path) in HEIGHT, f"{path.name} is in no layer: name it in LAYERS"
    assert breaches(package_of(path), path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("package", "text"),
    [
        ("topology", "from netsim.traces import Trace"),  # upwards
        ("collectives", "from netsim.topology import Network"),  # the same layer
        ("core", "import netsim.simulation"),
        ("units", "from netsim import simulate"),  # all of netsim is the top
        ("routing", "def late():\n    from netsim.result import Result"),  # in a function
        ("result", 'import_module("netsim.report.summary")'),  # in a text
        ("core", 'import_module(f"netsim.config.{name}")[:0]'),
        ("report", "import simpy"),
        ("core", "from numba import njit"),
        ("core", "import numba.typed"),
        ("simulation", "import networkx as nx"),
        ("simulation", "import pandas"),
        ("cli", "from . import show"),
    ],
)
def test_a_breach_is_found(package: str, text: str) -> None:
    assert breaches(package, text) != []


@pytest.mark.parametrize(
    ("package", "text"),
    [
        ("cli", "from netsim.report import compare\nimport pandas"),
        ("simulation", "import simpy\nfrom netsim.core.engine.loop import advance"),
        (
            "topology",
            "import networkx\nfrom netsim.topology.network import Network\nfrom netsim.units import parse_rate",
        ),
        ("kernel", "import numba"),
        ("result", "from netsim.version import __version__"),
        ("cli", "from netsim import kernel"),
    ],
)
def test_what_is_allowed_passes(package: str, text: str) -> None:
    assert breaches(package, text) == []


@cache
def graph() -> dict[str, set[str]]:
    """The modules of netsim that each module imports."""
    return {name: imports(path.read_text(encoding="utf-8")) & (set(MODULES) - {name}) for name, path in MODULES.items()}


def cycle_in(imported: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle; [] if none do."""
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_each_other() -> None:
    assert cycle_in(graph()) == []


def test_a_lazy_import_that_closes_a_circle_is_found() -> None:
    late = graph() | {"netsim.result": graph()["netsim.result"] | {"netsim.report.summary"}}
    assert cycle_in(late) != []


def test_one_file_reaches_into_numba() -> None:
    """kernel/numba_internals.py names what is not public API, and the versions that it was tested with."""
    inside = ("numba.core", "numba.np", "llvmlite")
    reaching = [path.name for path in FILES if any(module.startswith(inside) for module in imports(path.read_text()))]
    assert reaching == ["numba_internals.py"]


CORE_FOLDERS = ["state", "observe", "link", "switch", "ideal", "flows", "recovery", "host", "engine"]  # bottom up


@pytest.mark.parametrize("path", sorted(SOURCE.glob("core/*/*.py")), ids=module_of)
def test_folders_of_the_core_import_one_way(path: Path) -> None:
    height = CORE_FOLDERS.index(path.parent.name)
    folders = {module.split(".")[2] for module in imports(path.read_text()) if module.startswith("netsim.core.")}
    assert [folder for folder in folders if CORE_FOLDERS.index(folder) > height] == []


LONGEST_FILE, LONGEST_FUNCTION = 300, 40  # lines; above that a name is missing


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_files_and_functions_are_short(path: Path) -> None:
    text, module = path.read_text(encoding="utf-8"), module_of(path)
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    lines = {f"{module}.{each.name}": each.end_lineno - each.lineno + 1 for each in functions}
    found = {name for name, count in lines.items() if count > LONGEST_FUNCTION}
    found |= {module} if len(text.splitlines()) > LONGEST_FILE else set()
    assert not found
