"""`netsim report` and `netsim trace`: what they write, where, and what they refuse in one line."""

from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.outcomes import result_of, scenario_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    result_of(scenario_of(), [(0, 5, 4096, 0, 10**7)]).save(tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize(("command", "name"), [("report", "report.html"), ("trace", "run.perfetto.json.gz")])
def test_beside_the_tables_or_where_one_wants(command: str, name: str, folder: Path, cli: CommandLine) -> None:
    assert cli(command, folder)[:2] == (0, f"{folder / name}\n")
    other = folder.parent / "other"
    assert cli(command, folder, "-o", other)[:2] == (0, f"{other}\n")
    assert other.read_bytes() == (folder / name).read_bytes()


def test_open_shows_it(folder: Path, cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: bool(shown.append(address)) or True)
    cli.succeeds("report", folder)
    assert shown == []
    cli.succeeds("report", folder, "--open")
    assert shown == [(folder / "report.html").as_uri()]


@pytest.mark.parametrize("command", ["report", "trace"])
def test_mistakes_are_one_line(command: str, folder: Path, cli: CommandLine) -> None:
    empty = folder.parent / "empty"
    empty.mkdir()
    for wrong in (empty, folder.parent / "nowhere"):
        told = f"netsim: {wrong}: is no saved result; give a folder that --out or save() wrote\n"
        assert cli.refused(command, wrong) == told
        assert not (wrong / "report.html").exists()
    assert "name a file in a folder that is there" in cli.refused(command, folder, "-o", folder / "deep" / "file")


def test_a_result_of_an_older_netsim_is_told(folder: Path, cli: CommandLine) -> None:
    (folder / "parts.parquet").unlink()
    err = cli.refused("report", folder)
    assert "parts.parquet" in err
    assert "run the scenario again" in err
