"""The house stands: floors import downwards only, and each heavy library has the rooms it may live in."""

import ast
from pathlib import Path

import pytest

HOUSE = Path(__file__).parent.parent / "netsim"

FLOORS = [  # top down; a room imports only rooms below its own floor, so wings of one floor never see each other
    ["cli", "__init__", "__main__"],
    ["validate", "study", "explain"],
    ["report", "simulation"],
    ["result", "profile"],
    ["config"],
    ["routing", "core"],
    ["traces"],
    ["collectives", "topology", "transport"],
    ["units", "kernel", "writing"],
    ["errors", "version"],
]
HEIGHT = {room: -number for number, floor in enumerate(FLOORS) for room in floor}
WALLS = {  # who may import what
    "simpy": {"simulation"},
    "numba": {"kernel"},
    "networkx": {"topology", "routing"},
    "pandas": {"cli", "validate", "study", "report", "result", "profile", "traces"},
    "joblib": {"study"},
    "dask": set(),
    "distributed": {"study"},
}


def imports(text: str) -> set[str]:
    """Every module that a source text imports, wherever it does so; what only type checkers read counts too."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "netsim":
            found |= {f"netsim.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return found


def faults(room: str, text: str) -> list[str]:
    """What a file of `room` imports and must not."""
    found = []
    for module in imports(text):
        top, *rest = module.split(".")
        if top == "" and "." in module:
            found.append(f"{room}: relative import {module}; write netsim.{room}...")
        elif top == "netsim":
            other = rest[0] if rest and rest[0] in HEIGHT else "__init__"
            if other != room and HEIGHT[other] >= HEIGHT[room] and room not in ("__init__", "__main__"):
                found.append(f"{room} imports {module}, which is not below it")
        elif room not in WALLS.get(top, {room}):
            found.append(f"{room} imports {top}, which only {sorted(WALLS[top])} may")
    return found


def room_of(path: Path) -> str:
    return path.relative_to(HOUSE).parts[0].removesuffix(".py")


FILES = sorted(HOUSE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HOUSE)))
def test_file_keeps_floors_and_walls(path: Path) -> None:
    assert room_of(path) in HEIGHT, f"{path.name} is on no floor: name it in FLOORS"
    assert faults(room_of(path), path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("room", "text"),
    [
        ("topology", "from netsim.traces import Trace"),  # wings of one floor
        ("core", "import netsim.simulation"),  # upwards
        ("units", "from netsim import simulate"),  # the face is the top
        ("routing", "def late():\n    from netsim.result import Result"),  # hidden in a function
        ("report", "import simpy"),
        ("core", "from numba import njit"),
        ("core", "import numba.typed"),
        ("simulation", "import networkx as nx"),
        ("simulation", "import pandas"),
        ("cli", "from . import show"),
    ],
)
def test_a_breach_is_found(room: str, text: str) -> None:
    assert len(faults(room, text)) == 1


@pytest.mark.parametrize(
    ("room", "text"),
    [
        ("cli", "from netsim.report import compare\nimport pandas"),
        ("simulation", "import simpy\nfrom netsim.core.engine.loop import advance"),
        (
            "topology",
            "import networkx\nfrom netsim.topology.network import Network\nfrom netsim.units import parse_rate",
        ),
        ("kernel", "import numba"),
        ("result", "from netsim.version import __version__"),
    ],
)
def test_what_the_house_allows_passes(room: str, text: str) -> None:
    assert faults(room, text) == []


def test_one_file_reaches_into_numba() -> None:
    """kernel/numba_internals.py names what is not public API, and the versions that it was tested with."""
    inside = ("numba.core", "numba.np", "llvmlite")
    reaching = [path.name for path in FILES if any(module.startswith(inside) for module in imports(path.read_text()))]
    assert reaching == ["numba_internals.py"]


CORE_FOLDERS = ["state", "observe", "link", "switch", "ideal", "flows", "recovery", "host", "engine"]  # bottom up


@pytest.mark.parametrize("path", sorted(HOUSE.glob("core/*/*.py")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_folders_of_the_core_import_one_way(path: Path) -> None:
    height = CORE_FOLDERS.index(path.parent.name)
    folders = {module.split(".")[2] for module in imports(path.read_text()) if module.startswith("netsim.core.")}
    assert [folder for folder in folders if CORE_FOLDERS.index(folder) > height] == []


LIMIT = 320  # lines; above that a name is missing


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HOUSE)))
def test_file_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LIMIT
