"""htsim's triggers: what flows fire when they are done, and which flows that starts."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from netsim.errors import InputError
from netsim.traces.limits import MAX_CELLS
from netsim.traces.trace import Flows

SHAPES = ("oneshot", "multishot", "barrier")
ON_DELIVERY = "flows start when the awaited data has arrived; their send_done_trigger in htsim waits for the last ACK"
ON_ACKNOWLEDGEMENT = "flows start when the awaited data is acknowledged; their recv_done_trigger in htsim goes earlier"
IN_PLACE = (
    "flows of a multishot trigger wait each for one of those that fire it, in order; htsim takes the first to end"
)


@dataclass(slots=True)
class Trigger:
    """One trigger: its shape, the flows that fire it (and the rank at which each is done), the flows it starts."""

    line: int
    shape: str = ""
    count: int = 0
    fired_by: list[tuple[int, int]] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def mistake(self, number: int) -> tuple[str, str] | None:
        """What keeps it from starting all its flows, and the mend."""
        fires, starts = len(self.fired_by), len(self.starts)
        if not self.shape:
            return f"trigger {number} is used here but described nowhere", f"add a line: trigger id {number} oneshot"
        if not starts:
            return None
        if self.shape == "oneshot" and fires != 1:
            what = f"trigger {number} is a oneshot, but {fires} flows fire it"
            return what, "let one flow fire it, or make a barrier"
        if self.shape == "barrier" and fires != self.count:
            return f"trigger {number} counts to {self.count}, but {fires} flows fire it", f"write count {fires}"
        if self.shape == "multishot" and fires < starts:
            what = f"trigger {number} starts {starts} flows one by one, but only {fires} fire it"
            return what, "let as many flows fire it as it starts"
        return None

    def awaited(self, place: int) -> list[tuple[int, int]]:
        """The flows that the flow in this place among those it starts waits for, and the ranks where they are done."""
        return self.fired_by[place : place + 1] if self.shape == "multishot" else self.fired_by


class Triggers:
    """All triggers of a matrix by number; wrong(line, what, mend) makes the InputError."""

    def __init__(self, wrong: Callable[[int, str, str], InputError]) -> None:
        self._wrong, self._by_number = wrong, dict[int, Trigger]()
        self.notes: Counter[str] = Counter()

    def named(self, line: int, number: int) -> Trigger:
        """The trigger of this number; `line` is where it is named."""
        return self._by_number.setdefault(number, Trigger(line))

    def describe(self, line: int, number: int, shape: str, count: int) -> None:
        """Take a trigger's own line."""
        trigger = self.named(line, number)
        if trigger.shape:
            raise self._wrong(line, f"trigger {number} is described twice", "keep one of the two lines")
        trigger.line, trigger.shape, trigger.count = line, shape, count

    @property
    def described(self) -> int:
        """How many have a line of their own."""
        return sum(bool(trigger.shape) for trigger in self._by_number.values())

    def after(self, flows: Flows) -> list[tuple[int, ...]]:
        """The flows that each flow waits for."""
        after: list[tuple[int, ...]] = [()] * len(flows)
        waits = 0
        for number, trigger in self._by_number.items():
            mistake = trigger.mistake(number)
            if mistake:
                raise self._wrong(trigger.line, *mistake)
            waits += len(trigger.starts) * (1 if trigger.shape == "multishot" else len(trigger.fired_by))
            if waits > MAX_CELLS:
                what = f"the flows wait for more than {MAX_CELLS:,} others in all"
                raise self._wrong(trigger.line, what, "cut the matrix into parts")
            for place, flow in enumerate(trigger.starts):
                awaited = trigger.awaited(place)
                after[flow] = tuple(dict.fromkeys(each for each, _ in awaited))
                self._note(trigger, flows[flow][0], [(*flows[each][:2], rank) for each, rank in awaited])
        return after

    def _note(self, trigger: Trigger, source: int, awaited: list[tuple[int, int, int]]) -> None:
        """Count where a flow goes by another event than in htsim."""
        moved = [target for start, target, rank in awaited if source != rank and source in (start, target)]
        if moved:
            self.notes[ON_DELIVERY if source in moved else ON_ACKNOWLEDGEMENT] += 1
        self.notes[IN_PLACE] += trigger.shape == "multishot" and len(trigger.fired_by) > 1
