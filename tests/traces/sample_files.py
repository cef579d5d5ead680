"""Where real files lie beside the checkout, if they do."""

from pathlib import Path

import pytest

BESIDE = (parent / "shared" / "samples" for parent in Path(__file__).resolve().parents)
FOLDER = next((each for each in BESIDE if each.is_dir()), None)
needs_samples = pytest.mark.skipif(FOLDER is None, reason="the real files are not part of the repository")


def sample(name: str, pattern: str) -> list[Path]:
    assert FOLDER is not None
    found = sorted((FOLDER / name).glob(pattern))
    assert found
    return found
