"""Where real files lie beside the checkout, if they do."""

from __future__ import annotations

from pathlib import Path

import pytest


def folder(name: str) -> Path | None:
    """The folder of a format's samples."""
    for parent in Path(__file__).resolve().parents:
        found = parent / "shared" / "samples" / name
        if found.is_dir():
            return found
    return None


needs_samples = pytest.mark.skipif(folder("goal") is None, reason="the real files are not part of the repository")


def sample(name: str, pattern: str) -> list[Path]:
    """The files of a format that fit a pattern."""
    place = folder(name)
    assert place is not None
    found = sorted(place.glob(pattern))
    assert found
    return found
