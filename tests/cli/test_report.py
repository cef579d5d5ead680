"""`netsim report` and `netsim trace`: what they write, where, and what they refuse in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from netsim.cli import main
from tests.outcomes import result_of, scenario_of

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    result_of(scenario_of(), [(0, 5, 4096, 0, 10**7)]).save(tmp_path / "run")
    return tmp_path / "run"


def answer(capsys: Capture, *arguments: str | Path) -> tuple[int, str, str]:
    code = main([str(each) for each in arguments])
    output = capsys.readouterr()
    return code, output.out.strip(), output.err.strip()


@pytest.mark.parametrize(("command", "name"), [("report", "report.html"), ("trace", "run.perfetto.json.gz")])
def test_beside_the_tables_or_where_one_wants(command: str, name: str, folder: Path, capsys: Capture) -> None:
    assert answer(capsys, command, folder)[:2] == (0, str(folder / name))
    other = folder.parent / "other"
    assert answer(capsys, command, folder, "-o", other)[:2] == (0, str(other))
    assert other.read_bytes() == (folder / name).read_bytes()


def test_open_shows_it(folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: bool(shown.append(address)) or True)
    assert answer(capsys, "report", folder)[0] == 0
    assert shown == []
    assert answer(capsys, "report", folder, "--open")[0] == 0
    assert shown == [(folder / "report.html").as_uri()]


@pytest.mark.parametrize("command", ["report", "trace"])
def test_mistakes_are_one_line(command: str, folder: Path, capsys: Capture) -> None:
    empty = folder.parent / "empty"
    empty.mkdir()
    for wrong in (empty, folder.parent / "nowhere"):
        code, out, err = answer(capsys, command, wrong)
        assert (code, out) == (2, "")
        assert err == f"netsim: {wrong}: is no saved result; give a folder that --out or save() wrote"
        assert not (wrong / "report.html").exists()
    code, _, err = answer(capsys, command, folder, "-o", folder / "deep" / "file")
    assert code == 2
    assert "name a file in a folder that is there" in err
    assert "\n" not in err


def test_a_result_of_an_older_netsim_is_told(folder: Path, capsys: Capture) -> None:
    (folder / "parts.parquet").unlink()
    code, _, err = answer(capsys, "report", folder)
    assert (code, err.count("\n")) == (2, 0)
    assert "parts.parquet" in err
    assert "run the scenario again" in err
