"""The options that several commands share, and how they become the `path=value` settings of a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from netsim.errors import InputError

if TYPE_CHECKING:
    from netsim.config.limits import Limits


def option(names: str, metavar: str, says: str, **more: Any) -> Any:
    """An option of a command: its names, what its value is called in the help, and what it is for."""
    return typer.Option(*names.split(), metavar=metavar, help=says, **more)


def argument(metavar: str, says: str) -> Any:
    """What stands behind a command: what it is called in the help, and what it is for."""
    return typer.Argument(metavar=metavar, help=says)


Traces = Annotated[
    list[str],
    argument(
        "TRACE", "A built-in trace, a trace file, the log files of one job's ranks, a scenario.toml or a run.json."
    ),
]
Algorithms = Annotated[
    list[str], option("--algorithm", "OP=NAME", "E.g. all_reduce=tree, or an MSCCL file: all_reduce=my.xml.")
]
Transport = Annotated[
    str | None, option("--transport", "NAME", "Another congestion control: dctcp, swift ...; all else stays.")
]
Preset = Annotated[str | None, option("--preset", "NAME", "Fills in what is not set: roce (the default), uec ...")]
Routing = Annotated[str | None, option("--routing", "NAME", "How paths are chosen: ecmp, spray, adaptive, flowlet ...")]
Seed = Annotated[int | None, option("--seed", "N", "Another seed, other hashes and marks.")]
Settings = Annotated[list[str], option("--set", "PATH=VALUE", "Any key of a scenario, e.g. topology.buffer=unlimited.")]
FillMissingRanks = Annotated[
    bool,
    typer.Option("--fill-missing-ranks", help="Ranks that no log shows do the same as the others, by symmetry."),
]
Collective = Annotated[int | None, option("--collective", "ID", "Only this one; ids are those of collectives.parquet.")]
Html = Annotated[Path | None, option("--html", "FILE", "Write one page with the plots, which needs no net.")]
SavedRun = Annotated[Path, argument("DIR", "A folder that 'netsim run --out DIR' wrote.")]
TimeLimit = Annotated[str | None, option("--time-limit", "TIME", "Give up after so much simulated time, e.g. 10ms.")]
WallLimit = Annotated[str | None, option("--wall-limit", "TIME", "Give up after simulating so long by the clock: 90s.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def settings(
    sets: list[str],
    algorithms: Sequence[str] = (),
    preset: str | None = None,
    transport: str | None = None,
    routing: str | None = None,
    seed: int | None = None,
) -> list[str]:
    """All choices of a command line as `path=value`; a `--set` has the last word."""
    from netsim.config import CONTROL_ALONE

    short = [f"algorithms.{pair('--algorithm', each, 'all_reduce=tree')}" for each in algorithms]
    named = {"transport.preset": preset, "routing.kind": routing, "seed": seed}
    short += [f"{path}={value}" for path, value in named.items() if value is not None]
    short += [f"{CONTROL_ALONE}{transport}"] if transport is not None else []
    return short + [pair("--set", each, "topology.buffer=unlimited") for each in sets]


def limits(time_limit: str | None, wall_limit: str | None) -> Limits:
    """When a run is given up; InputError, with the option's name, for what is no time."""
    from netsim.config.limits import limits_of

    return limits_of(time_limit, wall_limit, where="--{}-limit")


def size(option: str, text: str | None) -> int | None:
    """The bytes of an option, if it was given; InputError, with the option's name, for what is no size."""
    from netsim.units import parse_size

    try:
        return None if text is None else parse_size(text)
    except InputError as error:
        raise InputError(error.what, where=option, hint=error.hint) from None


def pair(option: str, text: str, example: str) -> str:
    """A `KEY=VALUE` as it was given; InputError if it is none."""
    key, sign, value = text.partition("=")
    if not (key.strip() and sign and value.strip()):
        raise InputError(f"{text!r} is not KEY=VALUE", where=option, hint=f"write for example {option} {example}")
    return text


def is_scenario(traces: list[str]) -> bool:
    """Whether the trace argument is a whole scenario: a scenario file, or the run.json of a saved result."""
    return len(traces) == 1 and (Path(traces[0]).suffix == ".toml" or Path(traces[0]).name == "run.json")
