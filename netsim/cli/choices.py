"""The options that several commands share, and how they become the `path=value` settings of a scenario."""

from pathlib import Path
from typing import Annotated

import typer

from netsim.errors import InputError

Traces = Annotated[
    list[str],
    typer.Argument(
        metavar="TRACE",
        help="A shipped trace, a trace file, the log files of one job's ranks, a scenario.toml or a run.json.",
        show_default=False,
    ),
]
Algorithms = Annotated[
    list[str], typer.Option("--algorithm", metavar="OP=NAME", help="E.g. all_reduce=tree; may be repeated.")
]
Transport = Annotated[
    str | None, typer.Option("--transport", metavar="NAME", help="Congestion control: none, window, dctcp.")
]
Routing = Annotated[
    str | None,
    typer.Option("--routing", metavar="NAME", help="How paths are chosen: ecmp, spray, adaptive, flowlet ..."),
]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", help="Another seed, other hashes and marks.")]
Settings = Annotated[
    list[str],
    typer.Option("--set", metavar="PATH=VALUE", help="Any key of a scenario, e.g. topology.buffer=unlimited."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def settings(
    algorithms: list[str], transport: str | None, routing: str | None, seed: int | None, sets: list[str]
) -> list[str]:
    """All choices of a command line as `path=value`; a `--set` has the last word."""
    short = [f"algorithms.{_pair('--algorithm', each, 'all_reduce=tree')}" for each in algorithms]
    named = {"transport.control": transport, "routing.kind": routing, "seed": seed}
    short += [f"{path}={value}" for path, value in named.items() if value is not None]
    return short + [_pair("--set", each, "topology.buffer=unlimited") for each in sets]


def _pair(option: str, text: str, example: str) -> str:
    key, sign, value = text.partition("=")
    if not (key.strip() and sign and value.strip()):
        raise InputError(f"{text!r} is not KEY=VALUE", where=option, mend=f"write for example {option} {example}")
    return text


def is_scenario(traces: list[str]) -> bool:
    """Whether the trace argument is a whole scenario: a scenario file, or the run.json of a saved result."""
    return len(traces) == 1 and (Path(traces[0]).suffix == ".toml" or Path(traces[0]).name == "run.json")
