"""Docs cannot lie: the README's commands and Python, the docstrings' examples and every --help are run."""

import doctest
import importlib
import pkgutil
import re
import shlex
import tomllib
from pathlib import Path

import pytest

import netsim
from tests.cli.command_line import CommandLine
from tests.processes import HOME

README = (HOME / "README.md").read_text(encoding="utf-8")
COMMANDS = ["run", "compare", "sweep", "describe", "profile", "plan", "selfcheck", "list"]


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def readme_commands() -> list[str]:
    lines = [line for block in blocks("console") for line in block.splitlines()]
    return [line[line.index("netsim ") :] for line in lines if re.search(r"(^|/bin/)netsim ", line)]


def help_examples(command: str) -> list[str]:
    """The examples of a command's --help that need no file of the reader's own."""
    module = importlib.import_module(f"netsim.cli.{'listing' if command == 'list' else command}")
    lines = [line.strip() for line in module.__doc__.splitlines()]
    return [line for line in lines if line.startswith("netsim ") and not re.search(r"my_|nccl\.|\w\.toml", line)]


def run(line: str, cli: CommandLine) -> str:
    return cli.succeeds(shlex.join(shlex.split(line, comments=True)[1:])).out


@pytest.mark.parametrize("line", readme_commands())
@pytest.mark.usefixtures("here")  # some write where they are started
def test_readme_command(line: str, cli: CommandLine) -> None:
    assert run(line, cli).strip()


@pytest.mark.parametrize("line", [line for command in COMMANDS for line in help_examples(command)])
def test_help_example(line: str, cli: CommandLine) -> None:
    assert run(line, cli).strip()


@pytest.mark.parametrize(
    "lines", [help_examples("report"), help_examples("trace"), *(b.split("\n") for b in blocks("sh"))]
)
@pytest.mark.usefixtures("here")
def test_examples_that_build_on_each_other(lines: list[str], cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webbrowser.open", lambda _: True)
    for line in filter(None, lines):
        assert run(line, cli).strip()


@pytest.mark.parametrize("block", blocks("python"), ids=lambda block: block.split("\n")[2])
def test_readme_python(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(block, "README.md", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out.strip()


def test_readme_promises_ten_lines() -> None:
    code = [line for line in blocks("python")[0].splitlines() if line.strip()]
    assert len(code) <= 10


def test_readme_files_are_read(here: Path, cli: CommandLine) -> None:
    texts = [*blocks("toml"), *blocks("json")]
    for name, text in zip(("fabric.toml", "scenario.toml", "study.toml", "trace.jsonl"), texts, strict=True):
        (here / name).write_text(text)
    cli.succeeds("describe fabric.toml")
    cli.succeeds("describe trace.jsonl")
    cli.succeeds("run trace.jsonl --on fabric.toml")
    cli.succeeds("run scenario.toml")
    cli.succeeds("sweep study.toml --out results --jobs 1")


def test_readme_ci_and_makefile_share_the_test_command() -> None:
    command = "python -m pytest -n auto"
    assert command in README
    assert f"step {command}" in (HOME / ".ci" / "run").read_text()
    assert "$(BIN)/python -m pytest -n auto\n" in (HOME / "Makefile").read_text()


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_by_example(command: str, cli: CommandLine) -> None:
    text = run(f"netsim {command} --help", cli)
    assert f"netsim {command}" in text.split("Options:")[0].split("\n", 2)[2]


def test_main_help_names_every_command(cli: CommandLine) -> None:
    text = run("netsim --help", cli)
    for command in COMMANDS:
        assert re.search(rf"^  {command} +\w", text, flags=re.MULTILINE)


def modules_with_examples() -> list[str]:
    found = ["netsim"]
    for module in pkgutil.walk_packages(netsim.__path__, "netsim."):
        path = HOME.joinpath(*module.name.split("."))
        source = path / "__init__.py" if module.ispkg else path.with_suffix(".py")
        if source.is_file() and ">>> " in source.read_text(encoding="utf-8"):
            found.append(module.name)
    return found


@pytest.mark.parametrize("name", modules_with_examples())
def test_docstring_examples(name: str) -> None:
    outcome = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize("name", netsim.__all__)
def test_the_face_holds_what_it_names(name: str) -> None:
    assert getattr(netsim, name) is not None


def test_the_face_refuses_other_names() -> None:
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        netsim.simulat  # noqa: B018


def test_version_is_one() -> None:
    settings = tomllib.loads((HOME / "pyproject.toml").read_text())
    assert settings["tool"]["hatch"]["version"]["path"] == "netsim/version.py"
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|rc\d+)?", netsim.__version__)
