"""What an experiment is and what it finds: figures side by side, with the difference and whether it is small enough."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One figure of an experiment: where it was published, what is expected, what came out, and whether that passes."""

    experiment: str
    figure: str
    source: str
    expected: str
    got: str
    difference: str
    holds: bool


@dataclass(frozen=True)
class Figure:
    """A finding before anybody has said of which experiment it is."""

    figure: str
    expected: str
    got: str
    difference: str
    holds: bool


@dataclass(frozen=True)
class Experiment:
    """A published experiment. `run(full)` measures it, at full size if asked."""

    source: str
    run: Callable[[bool], Iterator[Figure]]


def exactly(figure: str, expected: int, got: int, unit: str = "") -> Figure:
    """Not one off."""
    return Figure(figure, f"{expected:,}{unit}", f"{got:,}{unit}", f"{got - expected:+,}{unit}", got == expected)


def near(figure: str, expected: float, got: float, share: float, unit: str = "") -> Figure:
    """Within a share of what is published."""
    difference = got / expected - 1
    request = f"{expected:,.2f}{unit} +- {share * 100:.2g} %"
    return Figure(figure, request, f"{got:,.2f}{unit}", f"{difference:+.2%}", abs(difference) <= share)


def between(figure: str, low: float, high: float, got: float, unit: str = "", share: float = 0.0) -> Figure:
    """Not below `low` nor above `high`, but for a share of them; the difference is from the nearer end."""
    edge = low if got < low else high
    request = f"{low:,.2f} to {high:,.2f}{unit}" + (f" +- {share * 100:.2g} %" if share else "")
    holds = low * (1 - share) <= got <= high * (1 + share)
    difference = "inside" if low <= got <= high else f"{got / edge - 1:+.2%}" if edge else f"{got:+,.2f}"
    return Figure(figure, request, f"{got:,.2f}{unit}", difference, holds)


def at_least(figure: str, low: float, got: float, unit: str = "") -> Figure:
    """Not below `low`."""
    difference = f"{got - low:+,.2f}{unit}"
    return Figure(figure, f">= {low:,.2f}{unit}", f"{got:,.2f}{unit}", difference, got >= low)


def said(figure: str, expected: str, got: str, holds: bool) -> Figure:
    """What is no number."""
    return Figure(figure, expected, got, "none" if holds else "not so", holds)
