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
ROOMS = ("core", "kernel", "queues", "transport")  # what decides what is compiled
SOURCES = (*(f"{room}/**/*.py" for room in ROOMS), "explain/trace_filter.py", "explain/path_hints_kernel.py")
_HOME = pathlib.Path(__file__).parent.parent


def _sources_digest() -> str:
    digest = hashlib.sha256(b"checked" if CHECKED else b"")
    for path in (path for pattern in SOURCES for path in sorted(_HOME.glob(pattern))):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> pathlib.Path:
    root = pathlib.Path(os.environ.get("NETSIM_CACHE_DIR") or platformdirs.user_cache_dir("netsim"))
    folder = root / "kernels" / _sources_digest()
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        for each in (root, folder.parent, folder):
            each.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            what = _open_to_others(root, folder)
    except OSError as error:
        what = f"cannot be written ({error.strerror})"
    if not what:
        return folder
    warnings.warn(
        f"{folder}: {what}, so kernels are compiled anew in every process; set NETSIM_CACHE_DIR to a folder of yours",
        RuntimeWarning,
        stacklevel=2,
    )
    return pathlib.Path(tempfile.mkdtemp(prefix="netsim-kernels-"))


def _open_to_others(root: pathlib.Path, folder: pathlib.Path) -> str:
    """What keeps code in a folder from being trusted, "" if nothing does: what lies there is loaded and run.

    The folder and those above it up to the root must belong to this user or to root, and others must not write there.
    If others can enter it at all, this holds for what is in it as well.
    """
    if not hasattr(os, "getuid"):
        return ""
    inside = folder.rglob("*") if folder.stat().st_mode & 0o077 else ()
    for path in (root, folder.parent, folder, *inside):
        found = path.stat()
        if found.st_uid not in (os.getuid(), 0):
            return f"{path.name} in it belongs to another user" if path != root else "belongs to another user"
        if found.st_mode & 0o022:
            return f"others can write to {path.name}"
    return ""


CACHE_FOLDER = _cache_folder()


def is_kept(kernel: str) -> bool:
    """Whether compiled code of a kernel ("engine.advance") is kept for this Python: asked without loading numba.

    Whether this processor can use it, only `is_compiled` knows.
    """
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    return any(CACHE_FOLDER.glob(f"*/{kernel}-*.{version}.*.nbc"))
