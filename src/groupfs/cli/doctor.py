"""``groupfs datasets`` and ``groupfs doctor``: what is on this machine, as plain records."""

import os
import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, requires
from typing import Any

from groupfs.utils.versions import installed_version

CORE = ("numpy", "scipy", "scikit-learn", "torch", "joblib")


def find_datasets() -> dict[str, Any]:
    """Look for the files of every table, and name the folder that was searched."""
    from groupfs.datasets.published_files import data_folder, find_file
    from groupfs.datasets.registry import REGISTRY

    folder = data_folder()
    records = []
    for name, entry in REGISTRY.items():
        ready = next(
            (s for s in entry.sources if all(find_file(file, folder) for file in s.files)), None
        )
        files = (ready or entry.sources[-1]).files
        records.append(
            {
                "name": name,
                "at_hand": ready is not None,
                "downloadable": all(file.url for file in entry.sources[-1].files),
                "files": [file.name for file in files],
                "home": files[0].home,
                "description": entry.description,
            }
        )
    return {"folder": str(folder), "datasets": records}


def examine() -> dict[str, Any]:
    """Return versions, devices and extras."""
    return {
        "groupfs": installed_version("groupfs"),
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": platform.platform(),
        "packages": {name: installed_version(name) for name in CORE},
        "device": _device(),
        "extras": _extras(),
        "data_folder": os.environ.get("GROUPFS_DATA") or "~/groupfs_data",
    }


def _device() -> dict[str, Any]:
    import torch

    from groupfs.utils.device import resolve_device

    used = resolve_device("auto")
    return {
        "used": str(used),
        "name": torch.cuda.get_device_name(used) if used.type == "cuda" else platform.machine(),
        "threads": torch.get_num_threads(),
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
    }


def _extras() -> dict[str, dict[str, str | None]]:
    """Return the packages of every extra for users, with their versions or None."""
    try:
        lines = requires("groupfs") or []
    except PackageNotFoundError:  # run from a folder that was never installed
        lines = []
    extras: dict[str, dict[str, str | None]] = {}
    for line in lines:
        found = re.match(r"([\w.-]+)[^;]*;.*extra == ['\"]([\w-]+)['\"]", line)
        if found and found[1] != "groupfs" and found[2] not in ("dev", "docs", "all"):
            extras.setdefault(found[2], {})[found[1]] = installed_version(found[1])
    return extras
