"""Parsed copies of tables in the user's cache folder, so that a file is read only once.

The folder of the published files belongs to the user and is not written to here.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from groupfs.datasets.parsers import PARSERS_VERSION, Parsed


def cache_folder() -> Path | None:
    """Return the folder that ``GROUPFS_CACHE`` names, or the system's for caches of a user.

    Where that is only pooch knows; without it there is no cache.
    """
    if given := os.environ.get("GROUPFS_CACHE"):
        return Path(given).expanduser()
    try:
        import pooch
    except ImportError:
        return None
    return Path(pooch.os_cache("groupfs"))


def copy_name(name: str, hashes: Sequence[str]) -> str:
    """Return the file name of a copy parsed from files with these sha256 by these parsers."""
    key = hashlib.sha256(" ".join([str(PARSERS_VERSION), *hashes]).encode()).hexdigest()
    return f"{name}-{key[:16]}.npz"


def load_copy(file_name: str) -> Parsed | None:
    """Read a parsed copy; return None where there is none or it is damaged."""
    folder = cache_folder()
    if folder is None:
        return None
    try:
        with np.load(folder / file_name, allow_pickle=False) as arrays:
            data, target = arrays["data"], arrays["target"]
            names, classes = arrays["feature_names"].tolist(), arrays["target_names"].tolist()
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
    whole = data.shape == (target.size, len(names)) and target.dtype == np.int64
    return Parsed(data, target, names, classes) if whole else None


def save_copy(parsed: Parsed, file_name: str) -> None:
    """Keep a parsed copy if the cache folder can be written; without one, reading stays slow."""
    folder = cache_folder()
    if folder is None:
        return
    arrays: dict[str, Any] = {field: np.asarray(v) for field, v in parsed._asdict().items()}
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as aside:
            np.savez(Path(aside) / file_name, **arrays)
            os.replace(Path(aside) / file_name, folder / file_name)
