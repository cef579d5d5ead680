"""Records of the core: every field can be read as an attribute, in compiled code and in the interpreter."""

from itertools import pairwise

import numpy as np
import pytest

from netsim.core.state import dtypes, settings
from netsim.core.state.dtypes import NEVER, NONE
from netsim.transport import CONTROLS

NAMED = {**vars(dtypes), **vars(settings)}
RECORDS = {name: value for name, value in NAMED.items() if isinstance(value, np.dtype) and value.names}
TAKEN = {*dir(np.void), *dir(np.record), *dir(np.recarray)}


def fields_of(record: np.dtype, path: str = "") -> list[tuple[str, str]]:
    """Every field of a record and of the records in it: (path, name)."""
    found = []
    for name in record.names or ():
        found.append((f"{path}{name}", name))
        found += fields_of(record[name], f"{path}{name}.")
    return found


@pytest.mark.parametrize("record", RECORDS)
def test_no_field_is_called_like_an_attribute_of_numpys_records(record: str) -> None:
    """Under NUMBA_DISABLE_JIT rows are np.record, whose own attributes come before fields."""
    assert [path for path, name in fields_of(RECORDS[record]) if name in TAKEN] == []


def test_that_would_notice_the_usual_traps() -> None:
    traps = np.dtype([("data", "i8"), ("size", "i8"), ("inner", [("base", "i8"), ("fine", "i8"), ("flags", "u4")])])
    assert [path for path, name in fields_of(traps) if name in TAKEN] == ["data", "size", "inner.base", "inner.flags"]
    assert {"PACKET", "RING", "LINK", "LINK_CLASS", "NODE", "HOST", "CONNECTION", "MESSAGE", "SETTINGS"} <= {*RECORDS}


@pytest.mark.parametrize("record", RECORDS)
def test_numbers_are_signed_times_and_unsigned_ids(record: str) -> None:
    """u8 with i8 would be a float in compiled code."""
    scalars = {RECORDS[record][name] for name in RECORDS[record].names or ()} - {*RECORDS.values()}
    assert {str(kind) for kind in scalars if kind.names is None} <= {"int64", "int32", "uint32", "float64"}


def test_fields_of_one_record_do_not_lie_on_each_other_but_controls_do() -> None:
    fields = dtypes.CONNECTION.fields
    assert fields is not None
    states = set(CONTROLS)
    rows = [(name, *fields[name][:2]) for name in fields if name not in states]
    ends = sorted((offset, offset + kind.itemsize) for _, kind, offset in rows)
    assert all(end <= start for (_, end), (start, _) in pairwise(ends))
    assert {fields[name][1] for name in states} == {ends[-1][1]}


def test_never_and_none_have_room() -> None:
    assert 0 < NEVER < NEVER << 1 < 1 << 63
    assert np.uint32(NONE) == NONE
