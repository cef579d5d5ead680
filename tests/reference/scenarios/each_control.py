"""Scenarios that every control is played in, a new one too: marks and losses, GPUs to pass through, trimmed packets."""

from netsim.transport.registry import REGISTRY
from tests.reference.scenarios.networks import incast, leaves, queue, rails, ring, shift, star
from tests.reference.scenarios.pfc import LOST, TO_ONE_RAIL, pauses
from tests.reference.scenarios.recovery import SELECTIVE, trimming
from tests.reference.scenarios.scenario import Scenario, one, scenarios

ROWS = one(shift(8, 4, 120_000) + shift(8, 5, 60_000))
LEAVES = leaves(2, 4, 1, at=queue(12, 2, 9, 0.7))
RAILS = rails(3, 2, at=queue(200, 1, 9, 0.6), pfc=pauses(4, 2))
THROUGH = one([*ring(6, 5, 60_000, pieces=2), *TO_ONE_RAIL])
GO_BACK_N = [name for name, control in REGISTRY.items() if not control.receiver_credit]

# fmt: off
EACH_CONTROL = scenarios(
    *(Scenario(f"{name}_goes_back", LEAVES, ROWS, control=name) for name in GO_BACK_N),
    *(Scenario(f"{name}_marked", star(5, at=queue(400, 5, 60, 0.3)), one(incast(4, 400_000)), control=name)
      for name in GO_BACK_N),
    *(Scenario(f"{name}_passes_through_and_pauses", RAILS, THROUGH, "transit pauses ecn_marks", LOST, control=name)
      for name in GO_BACK_N),
    *(Scenario(f"{name}_repeats", trimming(LEAVES), ROWS, control=name,
               recovery=SELECTIVE, seed=3) for name in REGISTRY),
    window="bdp",
)
# fmt: on
