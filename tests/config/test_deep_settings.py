"""Settings that are nested deeply, or hold huge numbers: one line, little memory, whatever the file or option."""

import json
from pathlib import Path

import pytest

from netsim.config.document import DEEPEST, parse
from tests.cli.command_line import CommandLine
from tests.inputs import measured, refusal, saved

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
def test_a_file_is_one_line_and_takes_little_memory(case: str, command: str, tmp_path: Path, cli: CommandLine) -> None:
    path = saved(tmp_path / "f.toml", {**DEEP, **LARGE}[case])
    err, peak = measured(cli.refused, command.format(path))
    assert ("is nested too deeply" if case in DEEP else "a number beyond 64 bits") in err
    assert len(err) < 500
    assert peak < 50 << 20


RUN = "run perm16 --on fat_tree_k4_100g --set"


@pytest.mark.parametrize(
    "given", [f"{PARTS}=1", f"topology.k=0x{'f' * 5000}", f"topology.k={'[' * 5000}", f"topology={{ {PARTS} = 1 }}"]
)
def test_a_setting_is_one_line(given: str, cli: CommandLine) -> None:
    assert len(cli.refused(RUN, f"'{given}'")) < 500


@pytest.mark.parametrize("value", ["{ a = 1 }", "[1]", "1", "true", "1979-05-27", "''"])
@pytest.mark.parametrize("file", ["kind = {}", "base = {}", 'kind = "leaf_spine"\nkind2 = {}'])
def test_a_kind_of_any_type_is_one_line(value: str, file: str, tmp_path: Path, cli: CommandLine) -> None:
    fabric = saved(tmp_path / "f.toml", file.replace("{}", value) + "\n")
    text = f'trace = "perm16"\ntopology = "f.toml"\nrouting = {{ kind = {value} }}\n'
    cli.refused("run perm16 --on", fabric)
    cli.refused("run", saved(tmp_path / "s.toml", text))
    parts = ("topology", "routing", "transport", "placement.kind", "transport.preset", "transport.control")
    for part in (*parts, "topology.kind", "routing.kind"):
        answer = cli(RUN, f'"{part}={value}"')
        assert (answer.code, "fault in netsim" in answer.err) == (2, False), part


@pytest.mark.parametrize("content", ["[" * 100_000, '{"scenario": ' * 5000, '{"scenario": 1}', '{"scenario": []}'])
def test_a_saved_run_is_read_with_the_same_care(content: str, tmp_path: Path, cli: CommandLine) -> None:
    run = saved(tmp_path / "run.json", content)
    for command in ("run", "report", "explain"):
        assert "is not a saved run" in cli.refused(command, run if command == "run" else tmp_path)


def test_what_people_write_is_not_too_deep() -> None:
    text = 'a.b.c = "1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16 are no parts of a key"\n[x."1.2.3".y]\n'
    text += "z = [[1, 2], [3.5, 4.5]]"
    assert parse(text, "f").values["x"]["1.2.3"]["y"]["z"] == [[1, 2], [3.5, 4.5]]
    parse(".".join(["x"] * (DEEPEST - 1)) + " = 1", "f")
    assert "nested too deeply" in refusal(parse, ".".join(["x"] * (DEEPEST + 1)) + " = 1", "f")
    assert json.loads(json.dumps(parse(f"k = {(1 << 63) - 1}", "f").values)) == {"k": (1 << 63) - 1}
