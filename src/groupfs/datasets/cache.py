"""Parsed copies of tables in the user's cache folder, so that a file is read only once.

The folder of the published files belongs to the user and is not written to here.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from groupfs.datasets.parsers import PARSERS_VERSION, Parsed
from groupfs.utils.atomic_files import write_file


def cache_folder() -> Path:
    """Return the folder that ``GROUPFS_CACHE`` names, or the one for caches in the home."""
    return Path(os.environ.get("GROUPFS_CACHE") or "~/.cache/groupfs").expanduser()


def load_or_parse(name: str, hashes: list[str], parse: Callable[[], Parsed]) -> Parsed:
    """Return the copy parsed from files with these sha256, else parse them and keep a copy.

    Where the folder cannot be written, reading stays slow.
    """
    key = hashlib.sha256(" ".join([str(PARSERS_VERSION), *hashes]).encode()).hexdigest()
    path = cache_folder() / f"{name}-{key[:16]}.npz"
    try:
        with np.load(path, allow_pickle=False) as copy:
            names = (copy[field].tolist() for field in ("feature_names", "target_names"))
            return Parsed(copy["data"], copy["target"], *names)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        pass  # absent or damaged
    parsed = parse()
    with contextlib.suppress(OSError):
        write_file(path, lambda aside: np.savez(aside, **parsed._asdict()))
    return parsed
