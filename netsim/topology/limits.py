"""How much one network may hold: a wrong unit or a digit too many ends in a message, not in a full memory."""

from typing import NamedTuple

from netsim.errors import InputError

MOST_HOSTS = 1 << 17  # 131,072, as traces may have ranks: above the largest clusters that exist
MOST_SWITCHES = 1 << 16
MOST_CABLES = 1 << 19  # about 1.5 GB once packets move; a fat tree of 80-port switches, 128,000 hosts, has 384,000


class Counts(NamedTuple):
    """How many of each a network has."""

    hosts: int
    switches: int
    cables: int


MOST = Counts(MOST_HOSTS, MOST_SWITCHES, MOST_CABLES)


def check_counts(counts: Counts) -> None:
    """Refuse a network that is too large, before anything of it is made."""
    hosts, switches, cables = counts
    if hosts > MOST_HOSTS or switches > MOST_SWITCHES or cables > MOST_CABLES:
        raise InputError(f"makes {_told(counts)}", hint=f"look for a digit or a unit too many: {_told(MOST)} at most")


def _told(counts: Counts) -> str:
    return "{} hosts, {} switches and {} cables".format(*map(_number, counts))


def _number(number: int) -> str:
    return f"{number:,}" if number < 10**15 else f"10^{len(str(number)) - 1}" if number < 10**4000 else "countless"
