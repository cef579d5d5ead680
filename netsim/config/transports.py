"""A transport named in one word: a preset, or a congestion control on what else is said."""

from collections.abc import Mapping

from netsim.config.document import Document, merged
from netsim.errors import InputError, nearest
from netsim.transport import CONTROLS
from netsim.transport.presets import DEFAULT_PRESET, PRESETS

CONTROL_ALONE = "--transport="  # begins a setting that is no key: another control, all else as it is


def transport_key(name: str, where: str) -> str:
    """Whether a name given for a transport is a preset (which goes first, where both exist) or a control alone.

    InputError, with the nearest of both, for neither.
    """
    if name not in PRESETS and name not in CONTROLS:
        what = f"no transport preset and no control is called {name!r}"
        raise InputError(what, where=where, hint=nearest(name, [*PRESETS, *CONTROLS]))
    return "preset" if name in PRESETS else "control"


def with_control(document: Document, name: str) -> Document:
    """Change the congestion control and nothing else: the preset that stands behind a document stays."""
    if name not in CONTROLS:
        hint = f"write --preset {name}" if name in PRESETS else nearest(name, CONTROLS)
        what = f"{name!r} is a preset, no control" if name in PRESETS else f"no control is called {name!r}"
        raise InputError(what, where="--transport", hint=hint)
    transport = document.values.get("transport", {})
    if isinstance(transport, Mapping) and {"preset", "control"}.isdisjoint(transport):
        document = merged(document, Document({"transport": {"preset": DEFAULT_PRESET}}))
    return merged(document, Document({"transport": {"control": name}}, {("transport", "control"): "--transport"}))
