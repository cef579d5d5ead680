"""All scenarios by name: those that were thought of, and as many that are drawn."""

from tests.reference.scenarios.dcqcn import PACED
from tests.reference.scenarios.disciplines import DISCIPLINED, drawn_disciplined
from tests.reference.scenarios.drawn import drawn, drawn_together
from tests.reference.scenarios.each_control import EACH_CONTROL
from tests.reference.scenarios.measuring import MEASURED
from tests.reference.scenarios.per_packet_routing import ROUTED
from tests.reference.scenarios.pfc import LOSSLESS
from tests.reference.scenarios.plain import SCENARIOS
from tests.reference.scenarios.priorities import CLASSED
from tests.reference.scenarios.recovery import RECOVERING
from tests.reference.scenarios.shared_buffer import SHARED
from tests.reference.scenarios.together import TOGETHER

NAMED = SCENARIOS | LOSSLESS | PACED | RECOVERING | MEASURED | ROUTED | SHARED | CLASSED | TOGETHER
NAMED |= EACH_CONTROL | DISCIPLINED
TOGETHER_AT_RANDOM = map(drawn_together, range(400))
RANDOM = {each.name: each for each in [*map(drawn, range(60)), *TOGETHER_AT_RANDOM, *map(drawn_disciplined, range(60))]}
