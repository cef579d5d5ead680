"""From a document to a typed object: what pydantic finds wrong becomes one line that names place, key and mend."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from netsim.config.document import Document, Keys
from netsim.errors import InputError, nearest
from netsim.units import FROM_FILE

Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], document: Document, prefix: Keys = ()) -> Model:
    """Make a `model` of a document; the first mistake becomes an InputError naming the place, the key and the mend."""
    try:
        return model.model_validate(document.values, context=FROM_FILE if any(document.places.values()) else None)
    except ValidationError as error:
        errors = error.errors(include_url=False)
    keys = _written_keys(errors[0]["loc"], document.values)
    same = [each for each in errors if _written_keys(each["loc"], document.values) == keys]
    what, hint = _explained(same, keys, model, prefix)
    more = f" (and {len(errors) - len(same)} more)" if len(same) < len(errors) else ""
    raise InputError(what + more, where=document.place(keys), hint=hint)


def _explained(same: list[ErrorDetails], keys: Keys, model: type[BaseModel], prefix: Keys) -> tuple[str, str]:
    """What is wrong with one key, and the mend; `same` are pydantic's words on it, one per branch of a union."""
    mistake, key = same[0], dotted(prefix + keys)
    cause = mistake.get("ctx", {}).get("error")
    if mistake["type"] == "extra_forbidden":
        inner = _model_at(model, keys[:-1])
        return f"unknown key {key!r}", nearest(str(keys[-1]), inner.model_fields if inner else [])
    if mistake["type"] == "missing":
        return f"no {dotted(prefix + mistake['loc'])}", f"add {mistake['loc'][-1]} = ..."
    if isinstance(cause, InputError):
        return f"{key}: {cause.what}" if key else cause.what, cause.hint
    if cause is not None:
        return f"{key}: {cause}" if key else str(cause), ""
    given = repr(mistake["input"])
    shown = given if len(given) <= 60 else f"{given[:57]}..."
    if mistake["type"] == "literal_error" and len(same) == 1:
        return f"{key} = {shown} is unknown", nearest(str(mistake["input"]), _words(mistake["ctx"]["expected"]))
    requests = [each["msg"].removeprefix("Input should be ").partition(", unable")[0] for each in same]
    return f"{key} = {shown} is not {' or '.join(requests)}", "change it"


def _words(expected: str) -> list[str]:
    return [word.strip("'") for word in expected.replace(" or ", ", ").split(", ")]


def _written_keys(loc: Keys, values: Any) -> Keys:
    """The part of pydantic's path that stands in the file: it also names branches of unions."""
    for length, step in enumerate(loc):
        items = dict(enumerate(values)) if isinstance(values, list | tuple) else values
        if not isinstance(items, Mapping) or step not in items:
            return loc[:length]
        values = items[step]
    return loc


def _model_at(model: type[BaseModel], keys: Keys) -> type[BaseModel] | None:
    """The model that the table at `keys` becomes."""
    for key in keys:
        field = model.model_fields.get(str(key))
        inner = next(_models(field.annotation), None) if field else None
        if field and inner is None:
            return None
        model = inner or model  # no field: the key of a table of tables, such as tiers.tor
    return model


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def dotted(keys: Keys) -> str:
    return ".".join(map(str, keys))
