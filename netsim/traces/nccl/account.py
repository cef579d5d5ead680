"""What a read of NCCL logs has come across: counted while it goes on, told at its end."""

from collections import Counter
from dataclasses import dataclass, field

from netsim.errors import InputError
from netsim.traces.read_report import ReadReport

TIMELESS = "an NCCL log holds no times: operations follow each other without computing between them"
STAMPED = "an NCCL log tells when calls were made, not when they ran: no computing between them is known"
UNKNOWN = ", if it is one; it is of no other format that netsim knows (netsim list names them)"
SETTINGS = "run the job with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL NCCL_DEBUG_FILE=nccl.%h.%p.log"


@dataclass(slots=True)
class Account:
    """Counts of lines, calls and what is wrong with them; `unknown` calls by name, those of NCCL CALL lines apart.

    `widths` are the lengths of lines on which a call is cut off.
    """

    counts: Counter[str] = field(default_factory=Counter)
    tuning: Counter[str] = field(default_factory=Counter)
    unknown: dict[bool, Counter[str]] = field(default_factory=lambda: {False: Counter(), True: Counter()})
    widths: Counter[int] = field(default_factory=Counter)

    def nothing(self, entered: int, where: str) -> InputError:
        """Make the error for a log without a whole call, which says what else is in it."""
        found = {"cut off": self.counts["cut"], "ranks that enter communicators": entered}
        found |= {"lines of tuning": self.tuning.total(), **self._left_out()}
        recorded = ", ".join(f"{number} {what}" for what, number in found.items() if number)
        what = f"there is no whole NCCL collective call in the log{f' ({recorded})' if recorded else UNKNOWN}"
        wrapped = self._wrapped()
        hint = f"{wrapped}: write it to a file (NCCL_DEBUG_FILE=nccl.%h.%p.log)" if wrapped else SETTINGS
        return InputError(what, where, hint)

    def notes(self) -> list[str]:
        """Tell what was read, skipped and assumed."""
        counts = self.counts
        recorded = [f"{counts['calls'] - counts['repeats']:,} calls of ranks in {counts['lines']:,} lines of NCCL log"]
        recorded.append(self._of_time())
        if counts["cut"]:
            recorded.append(f"{counts['cut']:,} calls were cut off or mixed with other lines, and skipped")
            if wrapped := self._wrapped():
                recorded.append(f"{wrapped}: copy it from a wider window")
        if counts["repeats"]:
            recorded.append(f"{counts['repeats']:,} NCCL CALL lines repeat INFO lines, and were left out")
        recorded += [f"{number:,} {what}" for what, number in self._left_out().items()]
        if counts["hidden"]:
            recorded.append("Ray has hidden repeated lines ([repeated ... across cluster]): set RAY_DEDUP_LOGS=0")
        return recorded

    def report(self, hosts: int) -> ReadReport:
        """The same in numbers."""
        counts = self.counts
        skipped = {"NCCL CALL lines that repeat INFO lines": counts["repeats"], "lines hidden by Ray": counts["hidden"]}
        return ReadReport(
            hosts=hosts,
            lines=counts["lines"],
            records=counts["calls"] - counts["repeats"],
            cut=counts["cut"],
            skipped={why: number for why, number in skipped.items() if number} | self._left_out(),
            tuning=dict(self.tuning),
            assumed=(self._of_time(),),
        )

    def _left_out(self) -> dict[str, int]:
        """Calls that netsim does not know, by name; NCCL CALL lines repeat those of INFO lines."""
        unknown = self.unknown[True] | self.unknown[False]
        return {f"{name} calls, which netsim does not know, left out": unknown[name] for name in sorted(unknown)}

    def _wrapped(self) -> str:
        """Say where the lines end, if most calls are cut off at the same width."""
        ((width, times),) = self.widths.most_common(1) or [(0, 0)]
        most = times > 1 and 2 * times > self.widths.total()
        return f"the log seems to be wrapped at {width} characters" if most else ""

    def _of_time(self) -> str:
        return STAMPED if self.counts["timed"] else TIMELESS
