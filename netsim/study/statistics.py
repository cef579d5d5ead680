"""What a handful of seeds can tell: means and ratios with their 95 % intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

CONFIDENCE = 0.95
HALVINGS = 60  # of the range of an angle: beyond the last bit of a double


@dataclass(frozen=True, slots=True)
class Interval:
    """A middle (a mean, a ratio), and the range that covers the truth with 95 %; both ends NaN for a single run."""

    middle: float
    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """Whether there is a range: it takes two runs."""
        return not math.isnan(self.low)

    @property
    def mark(self) -> tuple[float, float, float]:
        """Middle, low and high, as charts take them; all are the middle where there is no range."""
        return (self.middle, self.low, self.high) if self.is_known else (self.middle,) * 3

    def covers(self, value: float) -> bool:
        """Whether a value lies in the range; never where there is none."""
        return self.low <= value <= self.high


def mean_of(values: Sequence[float]) -> Interval:
    """The mean of independent values, with Student's interval: mean +- t(n - 1) * s / sqrt(n).

    >>> found = mean_of([9.0, 10.0, 11.0])
    >>> found.middle, round(found.low, 3), round(found.high, 3)
    (10.0, 7.516, 12.484)
    """
    count = len(values)
    middle = math.fsum(values) / count if count else math.nan
    if count < 2:
        return Interval(middle, math.nan, math.nan)
    variance = math.fsum((value - middle) ** 2 for value in values) / (count - 1)
    half = student_t(count - 1) * math.sqrt(variance / count)
    return Interval(middle, middle - half, middle + half)


def speedup_of(times: Sequence[float], others: Sequence[float]) -> Interval:
    """How many times as fast as `others` the runs of `times` are, run by run: the geometric mean of other / time.

    Runs of equal place share their seed, so what the seed does to both cancels; the interval is Student's, of the
    logarithms of the ratios. NaN where a time is 0.
    """
    pairs = list(zip(times, others, strict=True))
    if not all(time > 0 and other > 0 for time, other in pairs):
        return Interval(math.nan, math.nan, math.nan)
    logarithm = mean_of([math.log(other / time) for time, other in pairs])
    return Interval(math.exp(logarithm.middle), math.exp(logarithm.low), math.exp(logarithm.high))


def unpaired_width(times: Sequence[float], others: Sequence[float]) -> float:
    """How wide the interval of the logarithm of the same ratio would be, had every run a seed of its own (Welch)."""
    parts = [mean_of([math.log(value) for value in values]) for values in (times, others)]
    freedom = len(times) - 1
    errors = [(part.high - part.low) / (2 * student_t(freedom)) for part in parts]
    error = math.hypot(*errors)
    if error == 0:
        return 0.0
    degrees = freedom * error**4 / math.fsum(each**4 for each in errors)  # Welch and Satterthwaite
    return 2 * student_t(max(1, math.floor(degrees))) * error


def paired_width(times: Sequence[float], others: Sequence[float]) -> float:
    """How wide the interval of the logarithm of the ratio is with the seeds in pairs."""
    found = speedup_of(times, others)
    return math.log(found.high / found.low)


@cache
def student_t(freedom: int) -> float:
    """The t within which 95 % of Student's distribution lies, for a whole number of degrees of freedom.

    Its closed form, as SciPy would be one more dependency for this alone.

    >>> [round(student_t(freedom), 3) for freedom in (1, 4, 9, 99)]
    [12.706, 2.776, 2.262, 1.984]
    """
    low, high = 0.0, math.pi / 2
    for _ in range(HALVINGS):
        angle = (low + high) / 2
        low, high = (angle, high) if _within(angle, freedom) < CONFIDENCE else (low, angle)
    return math.sqrt(freedom) * math.tan(low)


def _within(angle: float, freedom: int) -> float:
    """The part of the distribution within +-t, t = sqrt(freedom) * tan(angle).

    Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.7.3 (odd) and 26.7.4 (even degrees of freedom).
    """
    is_odd = freedom % 2
    term, total = (math.cos(angle), 0.0) if is_odd else (1.0, 0.0)
    for step in range(2 + is_odd, freedom + 1, 2):
        total += term
        term *= (step - 1) / step * math.cos(angle) ** 2
    inner = math.sin(angle) * total
    return 2 / math.pi * (angle + inner) if is_odd else inner
