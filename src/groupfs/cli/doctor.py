"""``groupfs doctor``: what is on this machine, as lines of a name and what there is of it."""

import os
import platform
import re
import sys
from importlib.metadata import requires

from groupfs.utils.packages import installed_version

CORE = ("groupfs", "numpy", "scipy", "scikit-learn", "joblib")


def examine() -> list[tuple[str, str]]:
    """Return versions, the device and extras."""
    return [
        *((name, installed_version(name) or "not installed") for name in CORE),
        ("python", f"{platform.python_version()} ({sys.executable})"),
        ("system", platform.platform()),
        ("device", _device()),
        ("data folder", os.environ.get("GROUPFS_DATA") or "~/groupfs_data"),
        *((f"groupfs[{extra}]", _told(packages)) for extra, packages in _extras().items()),
    ]


def _device() -> str:
    from groupfs.utils.device import import_torch, resolve_device

    try:
        torch = import_torch("a GPU")
    except ImportError:
        return f"cpu ({platform.machine()}, without torch)"
    used = resolve_device("auto")
    name = torch.cuda.get_device_name(used) if used.type == "cuda" else platform.machine()
    return f"{used} ({name}, {torch.get_num_threads()} threads)"


def _extras() -> dict[str, list[str]]:
    extras: dict[str, list[str]] = {}
    for line in requires("groupfs") or []:
        named = re.match(r"([\w.-]+)[^;]*;.*extra == ['\"]([\w-]+)['\"]", line)
        if named and named[1] != "groupfs" and named[2] not in ("dev", "docs", "all"):
            extras.setdefault(named[2], []).append(named[1])
    return extras


def _told(packages: list[str]) -> str:
    versions = {name: installed_version(name) for name in packages}
    if absent := [name for name, version in versions.items() if version is None]:
        return f"without {', '.join(absent)}"
    return ", ".join(f"{name} {version}" for name, version in versions.items())
