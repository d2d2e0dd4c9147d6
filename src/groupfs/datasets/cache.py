"""Parsed copies of tables, so that a file is unpacked, checked and read only once.

They lie beside the published files, or in the default folder where that one takes no new files.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from groupfs.datasets.parsers import RECIPES_VERSION, Parsed

SUBFOLDER = "groupfs-parsed"


def default_home() -> Path:
    return Path("~/groupfs_data").expanduser()


def copy_name(name: str, hashes: Sequence[str]) -> str:
    """File name of the copy parsed from files with these sha256 by this version of the recipes."""
    key = hashlib.sha256(" ".join([str(RECIPES_VERSION), *hashes]).encode()).hexdigest()
    return f"{name}-{key[:16]}.npz"


def load_copy(file_name: str, folder: Path) -> Parsed | None:
    """The parsed copy, or None where there is none or it is damaged."""
    for place in _places(folder):
        try:
            with np.load(place / file_name, allow_pickle=False) as arrays:
                return _checked(arrays)
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
            continue
    return None


def save_copy(parsed: Parsed, file_name: str, folder: Path) -> None:
    """Keep a parsed copy in the first place that takes it; without one, reading stays slow."""
    arrays: dict[str, Any] = {field: np.asarray(v) for field, v in parsed._asdict().items()}
    for place in _places(folder):
        if _marked_read_only(place):
            continue
        aside = place / f".{file_name}.{os.getpid()}-{secrets.token_hex(4)}"
        try:
            place.mkdir(parents=True, exist_ok=True)
            with open(aside, "xb") as file:
                np.savez(file, **arrays)
            os.replace(aside, place / file_name)
            return
        except OSError:
            continue
        finally:
            with contextlib.suppress(OSError):
                aside.unlink()


def _places(folder: Path) -> list[Path]:
    return [folder / SUBFOLDER, default_home() / SUBFOLDER]


def _marked_read_only(place: Path) -> bool:
    """By the folder's own mode, since an administrator's rights would not stop us from writing."""
    nearest = next((folder for folder in (place, place.parent) if folder.exists()), None)
    return nearest is not None and not nearest.stat().st_mode & 0o222


def _checked(arrays: np.lib.npyio.NpzFile) -> Parsed:
    data, target = arrays["data"], arrays["target"]
    names, classes = arrays["feature_names"].tolist(), arrays["target_names"].tolist()
    whole = data.shape == (target.size, len(names)) and target.dtype == np.int64
    if not whole or target.min() < 0 or target.max() >= len(classes):
        raise ValueError("not a parsed copy")
    return Parsed(data, target, names, classes)
