"""All scenarios by name: those that were thought of, and as many that are drawn."""

from __future__ import annotations

from tests.reference.scenarios.dcqcn import PACED
from tests.reference.scenarios.disciplines import DISCIPLINED, drawn_disciplined
from tests.reference.scenarios.drawn import drawn, drawn_lossless, drawn_measuring, drawn_paced
from tests.reference.scenarios.each_control import EACH_CONTROL
from tests.reference.scenarios.measuring import MEASURED
from tests.reference.scenarios.per_packet_routing import ROUTED, drawn_routed
from tests.reference.scenarios.pfc import LOSSLESS
from tests.reference.scenarios.plain import SCENARIOS
from tests.reference.scenarios.priorities import CLASSED, drawn_classed
from tests.reference.scenarios.recovery import RECOVERING, drawn_recovering
from tests.reference.scenarios.shared_buffer import SHARED, drawn_shared
from tests.reference.scenarios.together import TOGETHER, drawn_together

NAMED = SCENARIOS | LOSSLESS | PACED | RECOVERING | MEASURED | ROUTED | SHARED | CLASSED | TOGETHER
NAMED |= EACH_CONTROL | DISCIPLINED
DRAWN = dict.fromkeys((drawn, drawn_lossless, drawn_paced, drawn_recovering, drawn_measuring), 60)
DRAWN |= {drawn_routed: 80, drawn_shared: 60, drawn_classed: 60, drawn_together: 80, drawn_disciplined: 60}
RANDOM = {each.name: each for draw, count in DRAWN.items() for each in map(draw, range(count))}
