"""A program: plays scenarios by name in the core, prints their figures as JSON; `--outside` reads past a table."""

import json
import sys

from netsim.kernel import bare, entry
from tests.core.scenario_runs import of_core
from tests.core.worlds import at_rest
from tests.reference.scenarios.networks import star
from tests.reference.scenarios.plain import SCENARIOS


@entry
def read_outside(owned, row):  # type: ignore[no-untyped-def]
    """Read a link that is not there."""
    world = bare(owned)
    return world.links[row].free_at


if __name__ == "__main__":
    if sys.argv[1] == "--outside":
        world = at_rest(star(2))
        read_outside(world, len(world.links))
    else:
        print(json.dumps({name: of_core(SCENARIOS[name]) for name in sys.argv[1:]}))
