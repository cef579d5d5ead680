"""Settings that are nested deeply, or hold huge numbers: one line, little memory, whatever the file or option."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from netsim.cli import main
from netsim.config.document import DEEPEST, parse
from netsim.errors import InputError

PARTS = ".".join(["a"] * 20_000)
DEEP = {
    "20,000 parts": f"{PARTS} = 1\n",
    "20,000 parts of a table": f"[{PARTS}]\nx = 1\n",
    "20,000 parts of an array": f"[[{PARTS}]]\nx = 1\n",
    "20,000 quoted parts": ".".join(['"a"'] * 20_000) + " = 1\n",
    "20,000 parts with blanks": " . ".join(["'a'"] * 20_000) + " = 1\n",
    "parts in an inline table": f"x = {{ {PARTS} = 1 }}\n",
    "lists in lists": f"x = {'[' * 900}{']' * 900}\n",
    "more lists in lists": f"x = {'[' * 9000}{']' * 9000}\n",
    "tables in tables": f"x = {'{ a = ' * 900}1{' }' * 900}\n",
    "a table of many headers": "".join(f"[{'.'.join('abcdefghijklmnopqrstuvwxyz'[:n])}]\n" for n in range(1, 26)),
}
LARGE = {
    "5,000 digits": f"k = {'9' * 5000}\n",
    "5,000 hexadecimal digits": f"k = 0x{'f' * 5000}\n",
    "one beyond 64 bits": f"k = {1 << 63}\n",
    "in a list": f"k = [1, [-{1 << 64}]]\n",
}


@pytest.mark.parametrize("case", [*DEEP, *LARGE])
@pytest.mark.parametrize("command", ["describe {}", "run perm16 --on {}", "run {}", "sweep {}"])
def test_a_file_is_one_line_and_takes_little_memory(
    case: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "f.toml"
    path.write_text({**DEEP, **LARGE}[case])
    tracemalloc.start()
    try:
        code = main(command.format(path).split())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    err = capsys.readouterr().err
    assert (code, len(err.splitlines())) == (2, 1), err
    assert ("is nested too deeply" if case in DEEP else "a number beyond 64 bits") in err
    assert len(err) < 500
    assert peak < 50 << 20


@pytest.mark.parametrize(
    "given", [f"{PARTS}=1", f"topology.k=0x{'f' * 5000}", f"topology.k={'[' * 5000}", f"topology={{ {PARTS} = 1 }}"]
)
def test_a_setting_is_one_line(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "perm16", "--on", "fat_tree_k4_100g", "--set", given]) == 2
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    assert len(err) < 500


@pytest.mark.parametrize("value", ["{ a = 1 }", "[1]", "1", "true", "1979-05-27", "''"])
@pytest.mark.parametrize("file", ["kind = {}", "base = {}", 'kind = "leaf_spine"\nkind2 = {}'])
def test_a_kind_of_any_type_is_one_line(
    value: str, file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "f.toml"
    path.write_text(file.replace("{}", value) + "\n")
    (tmp_path / "s.toml").write_text(f'trace = "perm16"\ntopology = "f.toml"\nrouting = {{ kind = {value} }}\n')
    for command in (["run", "perm16", "--on", str(path)], ["run", str(tmp_path / "s.toml")]):
        assert main(command) == 2
        err = capsys.readouterr().err
        assert len(err.splitlines()) == 1
        assert "fault in netsim" not in err
    others = [f"{key}={value}" for key in ("topology.kind", "routing.kind", "transport.preset", "transport.control")]
    for given in [*others, f"placement.kind={value}", f"transport={value}", f"routing={value}", f"topology={value}"]:
        assert main(["run", "perm16", "--on", "fat_tree_k4_100g", "--set", given]) == 2, given
        assert "fault in netsim" not in capsys.readouterr().err


@pytest.mark.parametrize("content", ["[" * 100_000, '{"scenario": ' * 5000, '{"scenario": 1}', '{"scenario": []}'])
def test_a_saved_run_is_read_with_the_same_care(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.json").write_text(content)
    for command in (["run", str(tmp_path / "run.json")], ["report", str(tmp_path)], ["explain", str(tmp_path)]):
        assert main(command) == 2
        assert "is not a saved run" in capsys.readouterr().err


def test_what_people_write_is_not_too_deep() -> None:
    text = 'a.b.c = "1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16 are no parts of a key"\n[x."1.2.3".y]\n'
    text += "z = [[1, 2], [3.5, 4.5]]"
    assert parse(text, "f").values["x"]["1.2.3"]["y"]["z"] == [[1, 2], [3.5, 4.5]]
    parse(".".join("x" * 1 for _ in range(DEEPEST - 1)) + " = 1", "f")
    with pytest.raises(InputError, match="nested too deeply"):
        parse(".".join("x" * 1 for _ in range(DEEPEST + 1)) + " = 1", "f")
    assert json.loads(json.dumps(parse(f"k = {(1 << 63) - 1}", "f").values)) == {"k": (1 << 63) - 1}
