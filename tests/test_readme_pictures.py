"""What the README shows of real runs is what these runs give today."""

import re
import shlex
from importlib.util import module_from_spec, spec_from_file_location

import pytest

import netsim
from netsim.cli import main
from tests.processes import HOME

README = (HOME / "README.md").read_text(encoding="utf-8")


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    """To mend: put the output of the command above the table in its place."""
    found = re.search(r"^```console\n(netsim compare .*)\n```\n\n```text\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert found, "the README opens with a command and what it prints"
    assert main(shlex.split(found[1])[1:]) == 0
    assert capsys.readouterr().out.strip() == found[2].strip()


def test_the_picture() -> None:
    """To mend: python docs/draw_queues.py."""
    spec = spec_from_file_location("draw_queues", HOME / "docs" / "draw_queues.py")
    assert spec
    assert spec.loader
    draw_queues = module_from_spec(spec)
    spec.loader.exec_module(draw_queues)
    result = netsim.simulate(
        draw_queues.TRACE, draw_queues.FABRIC, transport=draw_queues.CONTROL, seed=draw_queues.SEED
    )
    assert draw_queues.PICTURE.read_text(encoding="utf-8") == draw_queues.picture(result)
    assert f"]({draw_queues.PICTURE.relative_to(HOME)})" in README
