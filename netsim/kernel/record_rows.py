"""How kernels reach the tables of a World: by one pointer, without owners.

Counting owners would make packets seven times as slow; as a tuple of arrays a World has hundreds of words, which every
function would take.
"""

import operator
from typing import Any

from numba import config, types
from numba.extending import infer_getattr, intrinsic, models, register_model

from netsim.kernel.numba_internals import (
    AbstractTemplate,
    AttributeTemplate,
    cgutils,
    infer_global,
    ir,
    lower_builtin,
    lower_getattr_generic,
    populate_array,
)

_WORD = ir.IntType(64)
_BYTES = ir.IntType(8).as_pointer()
FIXED = "settings"  # the table that no kernel writes to
_TABLE = ir.LiteralStructType([_BYTES, _WORD])  # where it begins, and its rows


class Bare(types.Type):
    """A World in a kernel: a pointer to where its tables are."""

    def __init__(self, world: types.NamedTuple) -> None:
        self.world = world
        super().__init__("netsim.World")

    @property
    def key(self) -> Any:
        """Worlds with the same tables are one type."""
        return self.world


@register_model(Bare)
class _BareModel(models.OpaqueModel):
    """One pointer."""


@infer_getattr
class _Tables(AttributeTemplate):
    key = Bare

    def generic_resolve(self, bare, name):
        if name not in bare.world.fields:
            return None
        table = bare.world[bare.world.fields.index(name)]
        return FixedTable(table.dtype) if name == FIXED else table


def _field(builder: Any, pointer: Any, world: types.NamedTuple, index: int, field: int) -> Any:
    tables = builder.bitcast(pointer, ir.ArrayType(_TABLE, len(world)).as_pointer())
    return cgutils.gep_inbounds(builder, tables, 0, index, field)


@lower_getattr_generic(Bare)
def _table(context: Any, builder: Any, bare: Bare, pointer: Any, name: str) -> Any:
    """A table as numba knows it, which nobody owns."""
    index = bare.world.fields.index(name)
    kind = bare.world[index]
    data, rows = (builder.load(_field(builder, pointer, bare.world, index, field)) for field in (0, 1))
    for value in (data, rows):  # tables stay where they are while a kernel runs
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
    if name == FIXED:
        return data
    row_bytes = kind.dtype.bitwidth // 8
    table = context.make_array(kind)(context, builder)
    data = builder.bitcast(data, table.data.type)
    populate_array(table, data, shape=[rows], strides=[_WORD(row_bytes)], itemsize=row_bytes, meminfo=None)
    return table._getvalue()


class Fixed(types.Type):
    """The one row of a table that no kernel writes to: read once and kept, however much else is written."""

    def __init__(self, row: types.Record) -> None:
        self.row = row
        super().__init__(f"fixed({row})")

    @property
    def key(self) -> Any:
        return self.row


class FixedTable(Fixed):
    """That table."""


@register_model(Fixed)
@register_model(FixedTable)
class _FixedModel(models.OpaqueModel):
    """A pointer to the row."""


@infer_global(operator.getitem)
class _FixedRow(AbstractTemplate):
    def generic(self, args, kws):
        table, row = args
        return Fixed(table.row)(table, row) if isinstance(table, FixedTable) else None


@lower_builtin(operator.getitem, FixedTable, types.Integer)
def _fixed_row(context, builder, signature, args):
    return args[0]


@infer_getattr
class _FixedFields(AttributeTemplate):
    key = Fixed

    def generic_resolve(self, fixed, name):
        return fixed.row.typeof(name) if name in fixed.row.fields else None


@lower_getattr_generic(Fixed)
def _fixed_field(context: Any, builder: Any, fixed: Fixed, pointer: Any, name: str) -> Any:
    """A number that is read once; a row within the row as numba knows it."""
    kind = fixed.row.typeof(name)
    place = cgutils.gep_inbounds(builder, pointer, fixed.row.offset(name))
    place = builder.bitcast(
        place,
        context.get_value_type(kind) if isinstance(kind, types.Record) else context.get_data_type(kind).as_pointer(),
    )
    if isinstance(kind, types.Record):
        return place
    value = builder.load(place)
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return context.data_model_manager[kind].from_data(builder, value)


def _note(builder: Any, place: Any, world: types.NamedTuple, index: int, table: Any) -> None:
    data, rows = (_field(builder, place, world, index, field) for field in (0, 1))
    builder.store(builder.bitcast(table.data, _BYTES), data)
    builder.store(builder.extract_value(table.shape, 0), rows)


def _sealed(builder: Any, pointer: Any) -> Any:
    """The same pointer; the compiler cannot tell, so it puts no use of it before what was stored so far."""
    form = ir.FunctionType(_BYTES, [_BYTES])
    return builder.asm(form, "", "=r,0,~{memory}", [pointer], side_effect=True)


if config.DISABLE_JIT:

    def bare(world):
        """The same tables: the interpreter has no owners to leave out, but rows must read as records."""
        return type(world)(*(table.view(_np_recarray) if table.dtype.names else table for table in world))

    from numpy import recarray as _np_recarray

    def prefetch(table, row, line):
        """Nothing: the interpreter does not wait for memory."""
else:

    @intrinsic
    def bare(typing, world):
        """The same tables, by one pointer, while the kernel runs that calls this."""

        def codegen(context, builder, signature, args):
            (world_type,) = signature.args
            place = cgutils.alloca_once(builder, ir.ArrayType(_TABLE, len(world_type)))
            pointer = builder.bitcast(place, _BYTES)
            tables = zip(world_type, cgutils.unpack_tuple(builder, args[0]), strict=True)
            for index, (kind, value) in enumerate(tables):
                _note(builder, pointer, world_type, index, context.make_array(kind)(context, builder, value))
            return _sealed(builder, pointer)

        return Bare(world)(world), codegen

    @intrinsic
    def prefetch(typing, table, row, line):
        """Ask for a cache line (the `line`-th of that row) that will be needed soon, without waiting for it."""

        def codegen(context, builder, signature, args):
            table_type, row_type, line_type = signature.args
            start = builder.ptrtoint(context.make_array(table_type)(context, builder, args[0]).data, _WORD)
            at = builder.mul(
                context.cast(builder, args[1], row_type, types.int64), _WORD(table_type.dtype.bitwidth // 8)
            )
            at = builder.add(at, builder.shl(context.cast(builder, args[2], line_type, types.int64), _WORD(6)))
            pointer = builder.inttoptr(builder.add(start, at), _BYTES)
            flag = ir.IntType(32)
            form = ir.FunctionType(ir.VoidType(), [pointer.type, flag, flag, flag])
            hint = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], form)
            for_reading, keep, data = flag(0), flag(3), flag(1)
            builder.call(hint, [pointer, for_reading, keep, data])
            return context.get_dummy_value()

        return types.void(table, row, line), codegen
