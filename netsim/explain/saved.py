"""A saved run that is simulated once more: what it must have, and whether it is still the same."""

from netsim.errors import InputError
from netsim.result import Result


def check_known(result: Result, collective: int | None) -> None:
    """InputError where a run had no collective of that id."""
    count, where = len(result.collectives), str(result.provenance.get("trace", result.scenario.trace.name))
    if collective is not None and not 0 <= collective < count:
        hint = f"give an id from 0 to {count - 1:,}" if count else "the run had none"
        raise InputError(f"no collective {collective}", where=where, hint=hint)


def check_same(result: Result, times_ps: dict[int, int], to_do: str) -> None:
    """InputError where a collective (by id) now takes another time than was saved."""
    saved = result.collectives["time_ps"].tolist()
    other = next((number for number, time_ps in times_ps.items() if time_ps != saved[number]), None)
    if other is not None:
        what = f"collective {other} no longer takes the time that was saved (netsim {result.provenance.get('netsim')})"
        where = str(result.provenance.get("trace", result.scenario.trace.name))
        raise InputError(what, where=where, hint=f"run it again with this netsim, and {to_do} that")
