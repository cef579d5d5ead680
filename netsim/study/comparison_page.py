"""A comparison as one page: times with their ranges, every seed as a dot, speed-ups, cost against time, all figures."""

from netsim.report.page import PageTable, Part, Plot, Section, page
from netsim.report.text import PS_PER_US, microseconds
from netsim.study.comparison import Comparison, verdict
from netsim.study.comparison_text import comparison_rows, matrix_rows, seeds_text


def comparison_page(comparison: Comparison) -> str:
    """The page as one text of HTML that needs nothing else."""
    facts = [
        (name, f"{microseconds(comparison.time(design).middle)} us") for design, name in enumerate(comparison.names)
    ]
    matrix = PageTable(["speed-up of row over column", *comparison.names], matrix_rows(comparison))
    speedups: list[Part] = [matrix, "Ranges are 95 % intervals of the ratio; the same seeds run on every design."]
    metrics: list[Part] = [PageTable(["", *comparison.names], comparison_rows(comparison))]
    sections = [
        Section("Verdict", verdict(comparison).splitlines()),
        Section("Times", [_times(comparison), *_costs(comparison)]),
        Section("Speed-ups", speedups),
        Section("Figures", metrics),
    ]
    title = f"{comparison.trace} on {len(comparison.names)} designs, {seeds_text(comparison)}"
    return page(title, facts, sections)


def _times(comparison: Comparison) -> Plot:
    designs = range(len(comparison.names))
    marks = [[each / PS_PER_US for each in comparison.time(design).mark] for design in designs]
    middle, low, high = zip(*marks, strict=True)
    seeds = [f"seed {seed}" for seed in comparison.seeds]
    times = [[time / PS_PER_US for time in comparison.times_ps(design)] for design in designs]
    dots = [list(zip(each, seeds, strict=True)) for each in times]
    bars = {"name": "mean", "y": middle, "low": low, "high": high, "dots": dots}
    how = {"words": comparison.names, "xName": "", "yName": "us", "yFormat": "figures"}
    return Plot(
        "bars", "time to finish", [bars], how, "Mean time to finish, with its 95 % interval; a dot is one seed."
    )


def _costs(comparison: Comparison) -> list[Part]:
    """Time against cost, where designs differ in cost: lower left is better."""
    has_price = comparison.costs[0].total is not None
    amounts = [float(cost.total or 0) if has_price else float(cost.ports) for cost in comparison.costs]
    if len(set(amounts)) < 2:
        return []
    what = f"price {comparison.costs[0].currency}".strip() if has_price else "switch ports in use"
    times = [comparison.time(design).middle / PS_PER_US for design in range(len(amounts))]
    dots = [{"name": name, "x": [x], "y": [y]} for name, x, y in zip(comparison.names, amounts, times, strict=True)]
    how = {"xName": what, "xFormat": "figures", "yName": "us", "yFormat": "figures"}
    return [Plot("curves", "time against cost", dots, how, "Further left is cheaper, further down is faster.")]
