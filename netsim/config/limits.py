"""When a run is given up: after so much simulated time, and after so much time by the clock."""

from typing import NamedTuple

from netsim.errors import InputError
from netsim.units import parse_time


class Limits(NamedTuple):
    """Picoseconds, both; None where there is no limit."""

    time_ps: int | None = None
    wall_ps: int | None = None


NO_LIMITS = Limits()


def limits_of(time_limit: str | int | None, wall_limit: str | int | None, where: str = "{}_limit") -> Limits:
    """Limits as people write them; InputError, with the option's name made of `where`, for what is no time."""
    found: list[int | None] = []
    for name, given in (("time", time_limit), ("wall", wall_limit)):
        try:
            found.append(None if given is None else parse_time(given))
        except InputError as error:
            raise InputError(error.what, where=where.format(name), hint=error.hint) from None
    return Limits(*found)
