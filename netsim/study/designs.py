"""Designs: what is compared; each chosen value of each axis with each of the others, and names that tell them apart."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from netsim.config.limits import NO_LIMITS, Limits
from netsim.config.scenario import Scenario
from netsim.errors import InputError
from netsim.study.pool import Task

MOST_RUNS = 10_000


@dataclass(frozen=True, slots=True)
class Design:
    """One of the things compared."""

    name: str
    scenario: Scenario


@dataclass(frozen=True, slots=True)
class Value:
    """One value of an axis: what it is called, and the settings it stands for."""

    name: str
    sets: tuple[str, ...] = ()
    topology: str | None = None
    scenario: str | None = None
    control: str = ""


Make = Callable[[Sequence[Value]], Scenario | None]


def designs_of(axes: Sequence[Sequence[Value]], make: Make) -> list[Design]:
    """Every combination of one value per axis (an empty axis says nothing); `make` gives its scenario, None for none.

    A design is called after the values that vary; where nothing does, after all that were given.
    """
    chosen = [axis for axis in axes if axis]
    varied = [len(axis) > 1 for axis in chosen]
    found = []
    for values in product(*chosen):
        pairs = zip(values, varied, strict=True)
        words = [value.name for value, varies in pairs if varies] or [value.name for value in values][:1]
        scenario = make(values)
        if scenario is not None:
            found.append((" ".join(words), scenario))
    if not found:
        raise InputError("nothing is left to compare", hint="see what was left out, and why")
    seen = Counter(name for name, _ in found)
    return [
        Design(name if seen[name] == 1 else f"{name} #{number}", scenario)
        for number, (name, scenario) in enumerate(found, 1)
    ]


def seeds_of(designs: Sequence[Design], seeds: int) -> list[int]:
    """The seeds that every design runs with: the first one's own and the next."""
    return [designs[0].scenario.seed + step for step in range(seeds)]


def tasks_of(designs: Sequence[Design], seeds: int, limits: Limits = NO_LIMITS) -> list[Task]:
    """All runs of a comparison, design by design: the first design's seed and the next ones, the same for all."""
    if len(designs) * seeds > MOST_RUNS:
        what = f"{len(designs):,} designs with {seeds:,} seeds are {len(designs) * seeds:,} runs"
        raise InputError(what, where="--seeds", hint=f"take {MOST_RUNS:,} at most")
    scenarios = [each.scenario.changed(seed=seed) for each in designs for seed in seeds_of(designs, seeds)]
    return [Task(number, scenario, limits, number % seeds == 0) for number, scenario in enumerate(scenarios)]
