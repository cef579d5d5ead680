"""Compiled code lies in a folder named after the sources; where it cannot be written there is a warning, no failure."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from netsim.kernel import cache

ROOT = Path(__file__).parents[2]
WHERE = (
    "from netsim import kernel; print(kernel.CACHE_FOLDER, kernel.is_compiled('advance'), kernel.__file__, sep=chr(10))"
)
TINY = """
from netsim.kernel import bare, entry

@entry
def double(x):
    return 2 * x

print(double(21))
"""
PLANTED = "import sys; sys.path.insert(0, {!r}); import tiny; from netsim import kernel; print(kernel.CACHE_FOLDER)"


def python(program: str, *options: str, package: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program with netsim from `package`, in a process of its own; it must not fail."""
    others = {name: value for name, value in os.environ.items() if not name.startswith(("NETSIM_", "NUMBA_"))}
    command = [sys.executable, *options, "-c", program]
    settings = others | {"PYTHONPATH": str(package)} | environment
    process = subprocess.run(command, cwd=package, env=settings, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return process


def folder(package: Path, cache: Path, **environment: str) -> Path:
    """The cache folder that netsim from `package` takes; it must not complain."""
    process = python(WHERE, "-W", "error", package=package, NETSIM_CACHE_DIR=str(cache), **environment)
    taken, _, where = process.stdout.splitlines()
    assert Path(where).is_relative_to(package), "another netsim was imported"
    return Path(taken)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package that may be changed."""
    shutil.copytree(ROOT / "netsim", tmp_path / "copy" / "netsim", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "copy"


@pytest.fixture
def planted(tmp_path: Path) -> str:
    """A program that compiles a kernel of its own, then says where."""
    (tmp_path / "tiny.py").write_text(TINY)
    (tmp_path / "temporary").mkdir()
    return PLANTED.format(str(tmp_path))


def test_every_file_with_kernels_counts(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those in folders of folders, too: a change in any of them is another cache folder."""
    monkeypatch.setattr(cache, "_HOME", copy / "netsim")
    imports = re.compile(r"^from netsim\.kernel import .*\b(entry|inner|part)\b", re.MULTILINE)
    files = [path for path in sorted((copy / "netsim").rglob("*.py")) if imports.search(path.read_text())]
    assert {"core", "explain", "queues", "transport"} <= {path.relative_to(copy / "netsim").parts[0] for path in files}
    for path in files:
        before = cache._sources_digest()
        path.write_text(path.read_text() + "\n# changed\n")
        assert cache._sources_digest() != before, path


def test_the_cache_lies_where_the_user_says(tmp_path: Path) -> None:
    taken = folder(ROOT, tmp_path / "mine")
    assert taken.is_dir()
    assert taken.parent == tmp_path / "mine" / "kernels"


def test_without_a_wish_it_lies_in_the_users_cache_folder(tmp_path: Path) -> None:
    process = python(WHERE, "-W", "error", XDG_CACHE_HOME=str(tmp_path), HOME=str(tmp_path), LOCALAPPDATA=str(tmp_path))
    assert Path(process.stdout.splitlines()[0]).is_relative_to(tmp_path)


def test_a_change_in_any_kernel_source_takes_another_folder(copy: Path, tmp_path: Path) -> None:
    taken = [folder(ROOT, tmp_path), folder(copy, tmp_path)]
    assert taken[0] == taken[1]  # the same sources elsewhere: the same folder
    for room in ("core/state/packet_header.py", "transport/controls/dctcp.py", "kernel/record_rows.py"):
        with (copy / "netsim" / room).open("a") as source:
            source.write("# changed\n")
        taken.append(folder(copy, tmp_path))
    assert len(set(taken)) == 4


def test_a_change_elsewhere_and_a_file_read_again_keep_the_folder(copy: Path, tmp_path: Path) -> None:
    before = folder(copy, tmp_path)
    (copy / "netsim" / "simulation" / "fabric.py").write_text("# changed\n")
    (copy / "netsim" / "core" / "engine" / "loop.py").touch()
    assert folder(copy, tmp_path) == before


def test_bounds_checks_have_a_folder_of_their_own(tmp_path: Path) -> None:
    assert folder(ROOT, tmp_path) != folder(ROOT, tmp_path, NETSIM_CHECKED="1")


def test_a_new_folder_holds_nothing_compiled_and_a_kernel_is_kept_in_it(tmp_path: Path, planted: str) -> None:
    assert python(WHERE, NETSIM_CACHE_DIR=str(tmp_path)).stdout.splitlines()[1] == "False"
    for _ in range(2):
        process = python(planted, "-W", "error", NETSIM_CACHE_DIR=str(tmp_path / "cache"))
        assert process.stdout.split()[0] == "42"
    assert len(list((tmp_path / "cache").rglob("*double*.nbc"))) == 1


def test_a_folder_that_cannot_be_written_is_a_warning_and_not_a_failure(tmp_path: Path, planted: str) -> None:
    (tmp_path / "file").write_text("in the way")
    blocked = str(tmp_path / "file" / "cache")
    process = python(planted, NETSIM_CACHE_DIR=blocked, TMPDIR=str(tmp_path / "temporary"))
    assert process.stdout.split()[0] == "42"
    assert "RuntimeWarning" in process.stderr
    assert "cannot be written" in process.stderr
    assert "set NETSIM_CACHE_DIR to a folder of yours" in process.stderr
    assert (tmp_path / "file").read_text() == "in the way"


@pytest.mark.parametrize("level", ["", "kernels", "kernels/*", "kernels/*/*", "kernels/*/*/*.nbc"])
@pytest.mark.parametrize("mode", [0o020, 0o002])
def test_a_folder_that_others_can_write_is_not_loaded(level: str, mode: int, tmp_path: Path, planted: str) -> None:
    cache, temporary = tmp_path / "cache", tmp_path / "temporary"
    first = python(planted, "-W", "error", NETSIM_CACHE_DIR=str(cache), TMPDIR=str(temporary))
    assert Path(first.stdout.splitlines()[1]).is_relative_to(cache)
    opened = list(cache.glob(level)) if level else [cache]
    assert opened
    for path in opened:
        path.chmod(path.stat().st_mode | mode)
    if level.count("/") > 1:  # reached through a folder that others can enter
        next(cache.glob("kernels/*")).chmod(0o755)
    process = python(planted, NETSIM_CACHE_DIR=str(cache), TMPDIR=str(temporary))
    assert process.stdout.splitlines()[0] == "42"
    assert Path(process.stdout.splitlines()[1]).is_relative_to(temporary)
    assert f"others can write to {opened[0].name}" in process.stderr
    assert "set NETSIM_CACHE_DIR to a folder of yours" in process.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("level", ["", "kernels", "kernels/*"])
def test_a_folder_of_another_user_is_not_loaded(level: str, tmp_path: Path) -> None:
    taken = folder(ROOT, tmp_path / "cache")
    for path in (tmp_path / "cache").glob(level) if level else [tmp_path / "cache"]:
        os.chown(path, 12345, 12345)
    process = python(WHERE, NETSIM_CACHE_DIR=str(tmp_path / "cache"), TMPDIR=str(tmp_path))
    assert "belongs to another user" in process.stderr
    assert Path(process.stdout.splitlines()[0]) != taken


def test_a_new_folder_is_nobody_elses_whatever_the_umask(tmp_path: Path) -> None:
    program = f"import os; os.umask(0); {WHERE}"
    process = python(program, "-W", "error", NETSIM_CACHE_DIR=str(tmp_path / "cache"))
    taken = Path(process.stdout.splitlines()[0])
    assert [path.stat().st_mode & 0o777 for path in (taken, taken.parent, taken.parent.parent)] == [0o700] * 3


def test_functions_that_users_compile_keep_their_own_cache(tmp_path: Path) -> None:
    steps = ["from numba import config", "before = config.CACHE_DIR", "import netsim.core.engine.loop"]
    program = "; ".join([*steps, "print(config.CACHE_DIR == before)"])
    assert python(program, NETSIM_CACHE_DIR=str(tmp_path)).stdout == "True\n"


IS_COMPILED = """
from netsim import kernel
import tiny_kernels
print(kernel.is_compiled("double"))
tiny_kernels.double(2)
tiny_kernels.double(2.5)
print(kernel.is_compiled("double"))
"""
TWO = """
from netsim.kernel import entry, inner

@inner
def twice(x):
    return 2 * x

@entry
def double(x):
    return twice(x)
"""


def test_it_knows_whether_a_run_will_compile(tmp_path: Path) -> None:
    source = tmp_path / "tiny_kernels.py"
    source.write_text(TWO)
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}){IS_COMPILED}"

    def said() -> list[str]:
        return python(program, NETSIM_CACHE_DIR=str(tmp_path / "cache")).stdout.split()

    assert said() == ["False", "True"]
    assert said() == ["True", "True"]
    kept = sorted((tmp_path / "cache").rglob("*.nbc"))
    assert [path.name.split("-")[0] for path in kept] == ["tiny_kernels.double"] * 2, "only entries are kept"
    source.write_text(TWO + "# changed\n")
    assert said() == ["False", "True"]
    for path in (tmp_path / "cache").rglob("*.nbc"):
        path.unlink()
    assert said() == ["False", "True"]
