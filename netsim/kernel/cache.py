"""Where compiled kernels are kept.

Numba's own cache does not notice an edit in another file, so the cache folder is named after the hash of all kernel
sources.
"""

import hashlib
import os
import pathlib
import sys
import tempfile
import warnings

import platformdirs

CHECKED = os.environ.get("NETSIM_CHECKED", "") == "1"  # bounds checks on every table access
ROOMS = ("core", "kernel", "transport")  # what is in them decides what is compiled
_HOME = pathlib.Path(__file__).parent.parent


def _sources_digest() -> str:
    digest = hashlib.sha256(b"checked" if CHECKED else b"")
    for path in (path for room in ROOMS for path in sorted(_HOME.glob(f"{room}/*.py"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> pathlib.Path:
    root = os.environ.get("NETSIM_CACHE_DIR") or platformdirs.user_cache_dir("netsim")
    folder = pathlib.Path(root) / "kernels" / _sources_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        warnings.warn(
            f"{folder}: cannot be written ({error.strerror}), so kernels are compiled anew in every process; "
            "set NETSIM_CACHE_DIR to a folder of yours",
            RuntimeWarning,
            stacklevel=2,
        )
        return pathlib.Path(tempfile.mkdtemp(prefix="netsim-kernels-"))


CACHE_FOLDER = _cache_folder()


def is_kept(kernel: str) -> bool:
    """Whether compiled code of a kernel ("engine.advance") is kept for this Python: asked without loading numba.

    Whether this processor can use it, only `is_compiled` knows.
    """
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    return any(CACHE_FOLDER.glob(f"*/{kernel}-*.{version}.*.nbc"))
