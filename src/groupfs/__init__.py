"""Unsupervised feature selection by group discovery."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groupfs.feature_groups import FeatureGroups
    from groupfs.groups import Level
    from groupfs.joint.estimator import GroupFS
    from groupfs.joint.path import GroupFSPath, GroupPath

    __version__: str

__all__ = ["FeatureGroups", "GroupFS", "GroupFSPath", "GroupPath", "Level", "__version__"]

#: Where the public names live. Each is imported when it is asked for, so that the command line
#: answers at once; torch comes with the first fit of what is learned jointly.
_ROOMS = {
    "FeatureGroups": "groupfs.feature_groups",
    "GroupFS": "groupfs.joint.estimator",
    "GroupFSPath": "groupfs.joint.path",
    "GroupPath": "groupfs.joint.path",
    "Level": "groupfs.groups",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from groupfs.utils.packages import installed_version

        return installed_version("groupfs") or "0+unknown"  # a folder that was never installed
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_ROOMS[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
