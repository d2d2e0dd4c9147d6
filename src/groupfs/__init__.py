"""Unsupervised feature selection by group discovery."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groupfs.estimators.group_fs import GroupFS
    from groupfs.estimators.group_fs_path import GroupFSPath
    from groupfs.estimators.stability import Stability
    from groupfs.graphs.replication import Replication
    from groupfs.selection.sparsity_path import GroupPath

    __version__: str

__all__ = ["GroupFS", "GroupFSPath", "GroupPath", "Replication", "Stability", "__version__"]

#: Where the public names live. Each is imported when it is asked for, so that the command line
#: answers at once; torch comes with the first fit.
_ROOMS = {
    "GroupFS": "groupfs.estimators.group_fs",
    "GroupFSPath": "groupfs.estimators.group_fs_path",
    "GroupPath": "groupfs.selection.sparsity_path",
    "Replication": "groupfs.graphs.replication",
    "Stability": "groupfs.estimators.stability",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from groupfs.utils.versions import installed_version

        return installed_version("groupfs") or "0+unknown"  # a folder that was never installed
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_ROOMS[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
