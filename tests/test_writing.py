"""One writer for all that is written: whole or not at all, and only regular files are ever replaced."""

import os
import resource
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import netsim
from netsim.errors import InputError, RunError
from netsim.writing import check_file, write_text, write_whole
from tests.cli.command_line import CommandLine
from tests.processes import finished, started

LONG = "x" * 300
STUDY = 'trace = "perm16"\ntopology = "fat_tree_k4_100g"\n[grid]\nseed = [1]\n'


def link(path: Path) -> None:
    path.with_name("mine").write_text("mine")
    path.symlink_to(path.with_name("mine"))


PLACES: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "dangling link": lambda path: path.symlink_to(path.with_name("nowhere")),
    "link": link,
    "link to a device": lambda path: path.symlink_to("/dev/null"),
    "folder": Path.mkdir,
}


@pytest.mark.parametrize("kind", PLACES)
def test_what_is_no_regular_file_stays_what_it_is(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "place"
    PLACES[kind](place)
    before = os.lstat(place)
    for act in (lambda: check_file(place), lambda: write_text(place, "text")):
        with pytest.raises(InputError, match=r"place: is a .*; name a file"):
            act()
    assert os.lstat(place) == before
    assert sorted(each.name for each in tmp_path.iterdir()) in (["place"], ["mine", "place"]), "no draft is left"
    assert not (tmp_path / "mine").exists() or (tmp_path / "mine").read_text() == "mine"


def test_a_device_stays_what_it_is() -> None:
    with pytest.raises(InputError, match="/dev/null: is a device; name a file"):
        write_text(Path("/dev/null"), "text")
    assert stat.S_ISCHR(os.lstat("/dev/null").st_mode)


COMMANDS = [
    "report {run} -o {out}",
    "trace {run} -o {out}",
    "profile perm16 --html {out}",
    "compare perm16 --on fat_tree_k4_100g --html {out}",
    "compare {run} {run} --html {out}",
    "sweep {study} --html {out}",
    "sweep {study} --svg {out}",
    "convert perm16 --to native --out {out}",
    "convert perm16 --to goal --out {out}",
    "convert perm16 --to goal_binary --out {out}",
    "convert perm16 --to htsim_cm --out {out}",
]
OF_FOLDERS = ["run perm16 --on fat_tree_k4_100g --out {out}", "profile perm16 --out {out}"]


@pytest.fixture
def ways(saved: Path, here: Path) -> dict[str, object]:
    """What commands are given: a saved run, and a study's file."""
    (here / "study.toml").write_text(STUDY)
    return {"run": saved, "study": "study.toml"}


@pytest.mark.parametrize("command", [*COMMANDS, *OF_FOLDERS])
def test_every_command_leaves_a_link_and_a_pipe_alone(command: str, ways: dict[str, object], cli: CommandLine) -> None:
    Path("elsewhere").mkdir()
    Path("link").symlink_to("elsewhere")
    os.mkfifo("pipe")
    for name, is_it in (("link", os.path.islink), ("pipe", lambda path: stat.S_ISFIFO(os.lstat(path).st_mode))):
        assert f"{name}: is a " in cli.refused(command.format(out=name, **ways))
        assert is_it(name)
    assert not list(Path("elsewhere").iterdir())


@pytest.mark.parametrize("command", [*COMMANDS, *OF_FOLDERS, "sweep {study} --out {out}"])
def test_a_name_of_300_letters_is_one_line(command: str, ways: dict[str, object], cli: CommandLine) -> None:
    said = cli.refused(command.format(out=LONG, **ways))
    assert "cannot be written (File name too long)" in said


@pytest.mark.parametrize("ending", ["", ".toml", ".xml", "/x"])
@pytest.mark.parametrize(
    "command",
    [
        "run {name} --on fat_tree_k4_100g",
        "run {name} {name} --on fat_tree_k4_100g",
        "run perm16 --on {name}",
        "run {name}",
        "run perm16 --on fat_tree_k4_100g --algorithm all_reduce={name}",
        "describe {name}",
        "report {name}",
        "explain {name}",
        "trace {name}",
        "compare {name} {name}",
        "compare perm16 --on {name}",
        "compare perm16 --on fat_tree_k4_100g --prices {name}",
        "sweep {name}",
        "profile {name}",
        "profile perm16 --on {name}",
        "convert {name} --out job.jsonl",
        "plan all_reduce --bytes 1MB --on {name}",
        "plan all_reduce --bytes 1MB --ranks 4 --algorithm {name}",
        "selfcheck {name}",
    ],
)
def test_a_name_of_300_letters_to_read_is_one_line(command: str, ending: str, cli: CommandLine) -> None:
    assert len(cli.refused(command.format(name=LONG + ending))) < 2000


@pytest.mark.parametrize("command", ["run", "sweep", "describe"])
@pytest.mark.parametrize("names", [("perm16", LONG), (LONG, "fat_tree_k4_100g")])
def test_a_name_of_300_letters_in_a_scenario_is_one_line(
    command: str, names: tuple[str, str], here: Path, cli: CommandLine
) -> None:
    trace, topology = names
    (here / "s.toml").write_text(STUDY.replace("perm16", trace).replace("fat_tree_k4_100g", topology))
    cli.refused(command, "s.toml")


@pytest.mark.parametrize("name", ["a.jsonl", "b" * 249 + ".jsonl"])
def test_a_file_is_replaced_whole_and_keeps_its_permissions(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    write_whole(path, [b"old"])
    path.chmod(0o640)

    def torn() -> object:
        yield b"new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, torn())  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    write_whole(path, [b"new"])
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o640)
    assert [each.name for each in tmp_path.iterdir()] == [name]


@contextmanager
def no_room() -> Iterator[None]:
    """No file may grow beyond 100 bytes, as on a disk that fills up under way; pytest writes files, too."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("command", [*COMMANDS, *OF_FOLDERS, "sweep {study} --out {out}"])
def test_where_the_disk_is_full_there_is_one_line_and_nothing_half_written(
    command: str, ways: dict[str, object], cli: CommandLine
) -> None:
    with no_room():
        code, _, err = cli(command.format(out="out", **ways))
    said = [line for line in err.splitlines() if "runs are finished" not in line]
    assert code == 1, said
    assert "cannot be written (File too large)" in said[-1] or "make room" in said[-1]
    assert not any("Traceback" in line or "fault in netsim" in line for line in said)
    assert list(Path().rglob(".*")) == [], "no draft is left"
    assert command.startswith("sweep") or not Path("out").exists()


def test_a_full_disk_is_no_mistake_of_the_users(tmp_path: Path) -> None:
    with no_room(), pytest.raises(RunError, match=r"cannot be written .*; make room"):
        write_whole(tmp_path / "f", [b"x" * 5000])


@pytest.mark.parametrize("command", ["list", "list nonsense", "describe fat_tree_k4_100g --json"])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output_to_a_full_device_is_one_line(command: str, stream: str) -> None:
    with open("/dev/full", "w") as full:
        code, _, told = finished(started("-m", "netsim", *command.split(), **{stream: full}))
    if stream == "stdout" and "nonsense" not in command:
        assert (code, told) == (1, "netsim: No space left on device; look at where the output goes\n")
    elif stream == "stderr":
        assert code == (2 if "nonsense" in command else 0)


def test_a_saved_runs_folder_may_be_reached_by_a_link(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "results").symlink_to(saved.parent)
    copy = tmp_path / "results" / "copy"
    shutil.copytree(saved, copy)
    netsim.Result.load(copy).save(copy)
    assert (saved.parent / "copy" / "run.json").is_file()


def test_files_that_belong_together_are_written_all_or_none(here: Path, cli: CommandLine) -> None:
    """Here Chakra's, one for each rank: the ninth cannot be written."""
    (here / "job.0.et").write_text("old")
    (here / "job.9.et").symlink_to("nowhere")
    command = "convert perm16 --out job.et"
    assert cli.refused(command).startswith("netsim: job.9.et: is a symbolic link")
    assert sorted(each.name for each in here.iterdir()) == ["job.0.et", "job.9.et"]
    assert (here / "job.0.et").read_text() == "old"
    (here / "job.9.et").unlink()
    cli.succeeds(command)
    assert sorted(each.name for each in here.iterdir()) == sorted(f"job.{rank}.et" for rank in range(16))


@pytest.mark.parametrize(
    ("to", "out"), [*((to, out) for to in ("chakra", "goal") for out in ("", ".", "/", "a\0b")), ("chakra", ".et")]
)
def test_what_names_no_file_is_one_line(to: str, out: str, cli: CommandLine) -> None:
    cli.refused(f"convert perm16 --to {to} --out '{out}'")
