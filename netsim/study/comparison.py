"""A comparison: several designs, each with the same seeds, and what that tells of which is faster."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from netsim.report.compare import KIND
from netsim.report.costs import SAME, Cost, price_verdict
from netsim.report.text import plain
from netsim.study.metrics import Measured
from netsim.study.statistics import Interval, mean_of, paired_width, speedup_of, unpaired_width

ONE_SEED = "One seed each: --seeds 10 tells how much of a difference is chance."
WORTH_SAYING = 0.01  # of an interval's width


@dataclass(frozen=True, slots=True)
class Comparison:
    """Designs by name, and for each its runs in the order of the seeds, its cost, and what its trace is called."""

    trace: str
    names: list[str]
    seeds: list[int]
    runs: list[list[Measured]]
    costs: list[Cost]

    def times_ps(self, design: int) -> list[int]:
        """When each run of a design was through, by seed."""
        return [run.time_ps for run in self.runs[design]]

    def time(self, design: int) -> Interval:
        """The mean of a design's times in ps."""
        return mean_of(self.times_ps(design))

    def speedup(self, design: int, other: int) -> Interval:
        """How many times as fast as `other` a design is, seed by seed."""
        return speedup_of(self.times_ps(design), self.times_ps(other))

    @property
    def order(self) -> list[int]:
        """The designs, the fastest first."""
        return sorted(range(len(self.names)), key=lambda design: self.time(design).middle)

    @property
    def is_seeded(self) -> bool:
        """Whether the seed changes anything at all."""
        return any(len(set(self.times_ps(design))) > 1 for design in range(len(self.names)))

    def mean_figure(self, design: int, name: str) -> float:
        """The mean of one figure of a design's runs; NaN where a run has none."""
        values = [run.metrics[name] for run in self.runs[design]]
        return math.nan if None in values else math.fsum(values) / len(values)

    def operations(self, design: int) -> pd.DataFrame:
        """A row per kind of operation: means over the seeds of the runs' medians."""
        every = pd.concat([run.operations for run in self.runs[design]])
        return every.groupby(KIND, sort=False, as_index=False).mean()


def verdict(comparison: Comparison) -> str:
    """Which design is fastest, by how much, how sure that is, or that these seeds show no difference; and prices."""
    best, *others = comparison.order
    lines = [_against(comparison, best, other) for other in others]
    if not others:
        lines = [f"{comparison.names[best]} alone: there is nothing to compare it with."]
    if len(comparison.seeds) > 1:
        lines.append(_pairs(comparison, best, others))
    elif others:
        lines.append(ONE_SEED)
    times_ps = [comparison.time(design).middle for design in range(len(comparison.names))]
    equal = [other for other in others if not _is_faster(comparison, best, other)]
    lines.append(price_verdict(comparison.names, times_ps, comparison.costs, [best, *equal]))
    return "\n".join(line for line in lines if line)


def _is_faster(comparison: Comparison, best: int, other: int) -> bool:
    """Whether the difference is worth the name, and more than chance where there are seeds to tell."""
    found = comparison.speedup(best, other)
    return found.middle > 1 + SAME and (found.low > 1 or not found.is_known)


def _against(comparison: Comparison, best: int, other: int) -> str:
    found, names, seeds = comparison.speedup(best, other), comparison.names, len(comparison.seeds)
    both = f"between {names[best]} and {names[other]}"
    if comparison.times_ps(best) == comparison.times_ps(other):
        return f"No difference {both}: they take the same time, with every seed."
    if math.isnan(found.middle):
        return f"{names[best]} against {names[other]}: a run took no time, so there is no ratio."
    between = f" (95 %: {found.low:.2f} to {found.high:.2f})" if found.is_known else ""
    if _is_faster(comparison, best, other):
        return f"{names[best]} is {found.middle:.2f} x faster than {names[other]}{between}."
    if found.is_known and found.low <= 1:
        return f"No difference that {seeds} seeds can show {both}: {found.middle:.2f} x{between}."
    return f"No difference worth the name {both}: {found.middle:.3f} x{between}."


def _pairs(comparison: Comparison, best: int, others: Sequence[int]) -> str:
    """What comparing the designs seed by seed did to the first interval."""
    if not comparison.is_seeded:
        return "The seed changes nothing here: one run of each says it all."
    if not others or math.isnan(comparison.speedup(best, others[0]).middle):
        return ""
    times = comparison.times_ps(best), comparison.times_ps(others[0])
    paired, unpaired = paired_width(*times), unpaired_width(*times)
    gain, interval = 1 - paired / unpaired, "the first interval"
    effect = f"narrows {interval} by {gain:.0%}" if gain > WORTH_SAYING else f"does not narrow {interval}"
    each = "; each interval holds for itself" if len(others) > 1 else ""
    return f"The same seeds run on every design and are compared in pairs, which {effect}{each}."


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """For each design the summary of its first run, its cost, its times over the seeds, its speed-up over others."""
    found = {}
    for design, name in enumerate(comparison.names):
        cost, time = comparison.costs[design], comparison.time(design)
        found[name] = {
            **comparison.runs[design][0].summary,
            "cost": {key: getattr(cost, key) for key in cost.__slots__},
            "over_seeds": {
                "seeds": comparison.seeds,
                "completion_time_ps": comparison.times_ps(design),
                **_plain(time, "mean_ps"),
            },
            "speedup_over": {
                other: _plain(comparison.speedup(design, place), "ratio")
                for place, other in enumerate(comparison.names)
                if place != design
            },
        }
    return found


def _plain(interval: Interval, middle: str) -> dict[str, float | None]:
    return {middle: plain(interval.middle), "low": plain(interval.low), "high": plain(interval.high)}
