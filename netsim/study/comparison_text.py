"""A comparison over seeds in aligned columns: means with their ranges, the matrix of speed-ups, the verdict."""

from collections.abc import Callable

from netsim.report.compare import operation_rows
from netsim.report.costs import cost_rows
from netsim.report.text import NOTHING, columns, microseconds, number, times
from netsim.study.comparison import Comparison, verdict
from netsim.study.statistics import Interval
from netsim.units import format_size

Rows = list[list[str]]


def comparison_text(comparison: Comparison) -> str:
    """The whole comparison for people."""
    header = [f"{comparison.trace}, {seeds_text(comparison)}", *comparison.names]
    parts = [columns(header, comparison_rows(comparison))]
    if len(comparison.names) > 2:
        parts.append(columns(["speed-up of row over column", *comparison.names], matrix_rows(comparison)))
    return "\n\n".join([*parts, verdict(comparison)])


def seeds_text(comparison: Comparison) -> str:
    """The seeds as people say them: "seed 7", "seeds 1 to 10"."""
    first, last = comparison.seeds[0], comparison.seeds[-1]
    return f"seed {first}" if first == last else f"seeds {first} to {last}"


def comparison_rows(comparison: Comparison) -> Rows:
    """A row per figure, a column per design."""
    designs = range(len(comparison.names))

    def row(name: str, cell: Callable[[int], str]) -> list[str]:
        return [name, *map(cell, designs)]

    def mean(name: str, figure: str) -> list[str]:
        return row(name, lambda design: f"{comparison.mean_figure(design, figure):,.0f}")

    return [
        row("finished at, us: mean", lambda design: microseconds(comparison.time(design).middle)),
        row("  95 % of the mean", lambda design: _range_us(comparison.time(design))),
        row("  fastest and slowest", lambda design: _extremes(comparison, design)),
        row(f"  against {comparison.names[0]}", lambda design: times(1 / comparison.speedup(design, 0).middle)),
        row("slowdown (time / ideal)", lambda design: times(comparison.mean_figure(design, "slowdown"))),
        *operation_rows([comparison.operations(design) for design in designs]),
        row("longest queue, any seed", lambda design: format_size(_longest(comparison, design))),
        mean("packets marked", "ecn_marks"),
        mean("packets dropped", "drops"),
        mean("packets retransmitted", "retransmitted_packets"),
        row("limited by, first seed", lambda design: str(comparison.runs[design][0].metrics["limited_by"])),
        *cost_rows(comparison.costs),
    ]


def matrix_rows(comparison: Comparison) -> Rows:
    """A row per design: how many times as fast as each other it is."""
    designs = range(len(comparison.names))
    return [
        [name, *(NOTHING if design == other else ratio_text(comparison.speedup(design, other)) for other in designs)]
        for design, name in enumerate(comparison.names)
    ]


def ratio_text(ratio: Interval) -> str:
    """A ratio with its range: "1.31 (1.22 to 1.40)"."""
    if not ratio.is_known:
        return number(ratio.middle)
    return f"{ratio.middle:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def _range_us(time: Interval) -> str:
    return f"{microseconds(time.low)} to {microseconds(time.high)}" if time.is_known else NOTHING


def _extremes(comparison: Comparison, design: int) -> str:
    found = comparison.times_ps(design)
    return f"{microseconds(min(found))} to {microseconds(max(found))}"


def _longest(comparison: Comparison, design: int) -> int:
    return max(int(run.metrics["max_queue_bytes"]) for run in comparison.runs[design])
