"""Run a comparison: every design with every seed, through a pool."""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from netsim.errors import RunError
from netsim.report.costs import Cost, Prices, cost_of, read_prices
from netsim.study.comparison import Comparison
from netsim.study.designs import Design, seeds_of
from netsim.study.metrics import Measured
from netsim.study.pool import Finished, Pool, Task

Tell = Callable[[Finished], None]


def costs_of(designs: Sequence[Design], prices_file: Path | None = None) -> list[Cost]:
    """What each design is made of, priced by a file of prices where there is one. Raises InputError."""
    prices: Prices | None = None if prices_file is None else read_prices(prices_file)
    return [cost_of(each.scenario.topology.build(), prices, str(prices_file)) for each in designs]


def compared(designs: Sequence[Design], tasks: list[Task], pool: Pool, costs: list[Cost], tell: Tell) -> Comparison:
    """Do all runs of `tasks_of(designs, seeds)`; the first failed one ends it with a RunError."""
    seeds = len(tasks) // len(designs)
    found: dict[int, Measured] = {}
    with closing(pool.run(tasks)) as finished_runs:
        for finished in finished_runs:
            tell(finished)
            if finished.measured is None:
                design, step = divmod(finished.number, seeds)
                raise RunError(finished.error, where=f"{designs[design].name}, seed {seeds_of(designs, seeds)[step]}")
            found[finished.number] = finished.measured
    runs = [[found[design * seeds + step] for step in range(seeds)] for design in range(len(designs))]
    return comparison_of(designs, runs, costs)


def comparison_of(designs: Sequence[Design], runs: list[list[Measured]], costs: list[Cost]) -> Comparison:
    """The comparison of runs that are done, a list per design."""
    names, traces = [each.name for each in designs], dict.fromkeys(each.scenario.trace.name for each in designs)
    return Comparison(" and ".join(traces), names, seeds_of(designs, len(runs[0])), runs, costs)
