"""Document: the plain values of a TOML file that remember where each was written, so that a mistake names its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netsim.errors import InputError, refuse_unknown
from netsim.traces.other_files import refuse_packed

LARGEST_FILE = 1 << 20  # bytes; a settings file is a page of text, anything larger is some other file
MOST_TRIES = 1000  # how often a value may turn out to go on in the next line before line numbers are given up
DEEPEST = 16  # tables and lists within each other, parts of a dotted key; a scenario needs four
WHOLE = range(-(1 << 63), 1 << 63)  # TOML's integers are 64 bits

_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{DEEPEST}}}")

CLOSING = ("]", "}", '"""', "'''")

Keys = tuple[str | int, ...]

_MENDS = {
    "Invalid value": 'texts and units stand in quotes, as in rate = "400Gb/s"',
    "Expected '='": "write key = value",
    "Expected ']'": "a table starts with [name] on a line of its own",
    "Expected newline": "texts and units stand in quotes, and each key on a line of its own",
    "Cannot overwrite": "each key may be written once",
    "Cannot declare": "each table may be opened once",
}


@dataclass(frozen=True)
class Document:
    """Values as TOML gives them, and for each path of keys the place it was written ("my.toml, line 3")."""

    values: dict[str, Any]
    places: dict[Keys, str] = field(default_factory=dict)
    name: str = ""

    def place(self, keys: Keys) -> str:
        """Where `keys`, or the table nearest around them, was written; "" when nobody knows."""
        for length in range(len(keys), 0, -1):
            if keys[:length] in self.places:
                return self.places[keys[:length]]
        return self.name

    def refuse_unknown(self, known: Collection[str]) -> None:
        """Raise InputError for a key of its own that is not known."""
        for key in self.values:
            refuse_unknown("unknown key", [key], known, where=self.place((key,)))

    def without(self, key: str) -> Document:
        values = {name: value for name, value in self.values.items() if name != key}
        return Document(values, {keys: at for keys, at in self.places.items() if keys[:1] != (key,)}, self.name)

    def under(self, key: str) -> Document:
        """The same values one table deeper: {rate} becomes {key: {rate}}."""
        places: dict[Keys, str] = {(key, *keys): at for keys, at in self.places.items()}
        return Document({key: self.values}, {(key,): self.name} | places if self.name else places, self.name)

    def inside(self, key: str) -> Document:
        """The table `key` alone, its keys counted from there."""
        places: dict[Keys, str] = {keys[1:]: at for keys, at in self.places.items() if keys[0] == key and len(keys) > 1}
        return Document(dict(self.values[key]), places, self.places.get((key,), self.name))


def read_document(path: Path) -> Document:
    """Read a TOML file; InputError for a file that is missing, too large, not UTF-8 or not TOML."""
    return parse(read_text(path), str(path))


def read_text(path: Path) -> str:
    """Read a file of settings; InputError for one that is missing, too large or not UTF-8."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InputError(error.strerror or "cannot be read", where=str(path), hint="check the path") from None
    if len(content) > LARGEST_FILE:
        raise InputError("is larger than 1 MiB", where=str(path), hint="a TOML file of settings is meant here")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        refuse_packed(content, path, meant="file of settings")
        raise InputError("is not UTF-8 text", where=str(path), hint="a TOML file of settings is meant here") from None


def parse(text: str, name: str) -> Document:
    """Read TOML text; `name` stands for the file in messages."""
    text = text.replace("\r\n", "\n")
    try:
        values = _loaded(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(str(error), text, name) from None
    except InputError as error:
        raise InputError(error.what, where=name, hint=error.hint) from None
    places = {keys: f"{name}, line {line}" for keys, line in _key_lines(text).items()}
    return Document(values, places, name)


def _loaded(text: str) -> dict[str, Any]:
    """The values of TOML text, none of them deep or large: TOMLDecodeError or InputError for all else.

    A key of many parts is found before tomllib sees it, which takes memory by the square of their number.
    """
    try:
        if _LONG_KEY.search(text):
            raise RecursionError
        values = tomllib.loads(text)
        check_values(values)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise InputError("is nested too deeply", hint="a table within a table is enough") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise _too_large() from None  # a number of more digits than Python reads
    return values


def check_values(values: Any) -> None:
    """Refuse values of a file that are nested deeply or hold a number beyond 64 bits: RecursionError, InputError."""
    level = [values]
    for _ in range(DEEPEST):
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]
        if any(isinstance(each, int) and each not in WHOLE for each in level):
            raise _too_large()
        level = [each for each in level if isinstance(each, dict | list)]
        if not level:
            return
    raise RecursionError


def _too_large() -> InputError:
    return InputError("holds a number beyond 64 bits", hint="look for a digit too many")


def _syntax_error(message: str, text: str, name: str) -> InputError:
    found = re.search(r"\s*\(at line (\d+), column \d+\)$", message)
    end = re.search(r"\s*\(at end of document\)$", message)
    line = int(found[1]) if found else max(1, len(text.splitlines()))
    what = message[: found.start()] if found else message[: end.start()] if end else message
    hint = next((hint for start, hint in _MENDS.items() if what.startswith(start)), "see https://toml.io")
    written = text.splitlines()[line - 1].strip() if text.strip() else ""
    shown = f" in {written[:60]!r}" if written else ""
    return InputError(f"is not TOML: {what[:1].lower()}{what[1:]}{shown}", where=f"{name}, line {line}", hint=hint)


def _key_lines(text: str) -> dict[Keys, int]:
    """The line of each path of keys: the file is cut where the lines read so far make whole statements."""
    lines: dict[Keys, int] = {}
    table: Keys = ()
    rows: dict[Keys, int] = {}  # [[name]]: how many so far
    statement: list[str] = []
    tries = 0
    for number, line in enumerate(text.split("\n"), 1):
        if not statement and line.lstrip()[:1] in ("", "#"):
            continue
        statement.append(line)
        if len(statement) > 1 and not any(end in line for end in CLOSING):
            continue  # what goes over several lines can only end where something closes
        parsed = _statement(statement)
        if parsed is None:
            tries += 1
            if tries > MOST_TRIES:
                break
            continue
        header = statement[0].lstrip().startswith("[")
        table = _header(parsed, rows) if header else table
        first = number - len(statement) + 1
        for keys in [table] if header else [table + keys for keys in _paths(parsed)]:
            lines.setdefault(keys, first)
        statement = []
    return lines


def _statement(lines: list[str]) -> dict[str, Any] | None:
    """The values of these lines if they make a whole statement."""
    try:
        return tomllib.loads("\n".join(lines))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _header(parsed: dict[str, Any], rows: dict[Keys, int]) -> Keys:
    """The path that [a.b] or [[a]] opens; rows of an array of tables are numbered as they come."""
    keys: Keys = ()
    inner: Any = parsed
    while inner:
        if isinstance(inner, list):
            rows[keys] = rows.get(keys, -1) + 1
            keys, inner = (*keys, rows[keys]), inner[0]
            continue
        name = next(iter(inner))
        keys, inner = (*keys, name), inner[name]
        if isinstance(inner, dict) and inner and keys in rows:
            keys = (*keys, rows[keys])
    return keys


def _paths(values: Any, above: Keys = ()) -> Iterator[Keys]:
    """Every path of keys in nested tables, outer ones first."""
    if isinstance(values, Mapping):
        for key, value in values.items():
            yield (*above, key)
            yield from _paths(value, (*above, key))


def merged(under: Document, over: Document) -> Document:
    """Lay one document over another: tables are joined key by key, everything else is replaced."""
    values, places = dict(under.values), dict(under.places)
    for key, value in over.values.items():
        below = values.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            joined = merged(Document(dict(below)), Document(dict(value)))
            values[key] = joined.values
            places.pop((key,), None)  # written at two places
        else:
            values[key] = value
            places = {keys: at for keys, at in places.items() if keys[0] != key}
    return Document(values, places | over.places, under.name or over.name)


def assignment(text: str) -> Document:
    """Read "transport.control=none": the value as TOML if it is TOML, else as text."""
    path, sign, written = text.partition("=")
    keys = tuple(key.strip() for key in path.split("."))
    if not sign or not all(keys) or len(keys) > DEEPEST:
        raise InputError(f"{text[:60]!r} is not PATH=VALUE", where="--set", hint="write --set transport.control=none")
    return nested(keys, _value(written.strip()), f"--set {text.strip()}")


def nested(keys: tuple[str, ...], value: Any, place: str) -> Document:
    """One value under its keys, all of them written at one place."""
    for key in reversed(keys):
        value = {key: value}
    return Document(value, {keys[: n + 1]: place for n in range(len(keys))})


def _value(written: str) -> Any:
    try:
        parsed = _loaded(f"value = {written}")
    except tomllib.TOMLDecodeError:
        return written
    except InputError as error:
        raise InputError(error.what, where="--set", hint=error.hint) from None
    return parsed["value"] if list(parsed) == ["value"] else written
