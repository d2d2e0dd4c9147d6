"""A look over an HDF5 file before it is read: how much it announces, and whether it can be read.

The library behind h5py ends its process at some damaged files, so another one looks first.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

#: Larger parts are only tried at their two ends.
TRIED_WHOLE = 2**24
#: Seconds of work, and of waiting for a disk, after which a look at a file is given up.
LONGEST_LOOK, LONGEST_WAIT = 60, 600


def announced_bytes(file: Any, names: Iterable[str]) -> int:
    """Bytes that reading these parts of a file takes, by the shapes it announces.

    What lies in other files is refused, and so are parts with two names: one small part could
    stand for any number of columns, or hold itself.

    Parameters
    ----------
    file : h5py.File
    names : iterable of str

    Examples
    --------
    >>> import io
    >>> import h5py
    >>> from groupfs.tables.hdf5 import announced_bytes
    >>> file = h5py.File(io.BytesIO(), "w")
    >>> _ = file.create_dataset("X", (10**6, 10**6), "f8", chunks=(100, 100))
    >>> announced_bytes(file, ["X"])
    8000000000000
    """
    return sum((node.size or 0) * max(node.dtype.itemsize, 1) for node in _datasets(file, names))


def refuse_deadly(open_file: Callable[[], Any], names: Iterable[str]) -> None:
    """Refuse a file at which the library would end this process, or not come to an end.

    Parameters
    ----------
    open_file : callable
        Opens the file with h5py.
    names : iterable of str
        The parts that will be read.

    Raises
    ------
    ValueError
        If a process that tries to read the parts is killed; other faults are left to reading.
    """
    if not hasattr(os, "fork"):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads, which the other process does not need
        process = os.fork()
    if process == 0:
        with contextlib.suppress(BaseException):
            _limit_this_process()
            with open_file() as file:
                _try(file, names)
        os._exit(0)  # nothing that this process has begun is ended twice
    _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status):
        raise ValueError("the HDF5 library does not survive reading it")


def _try(file: Any, names: Iterable[str]) -> None:
    """Touch whatever reading will touch."""
    for owner in (file, *_nodes(file, names)):
        for name in owner.attrs:
            with contextlib.suppress(Exception):
                owner.attrs[name]
    for node in _datasets(file, names):
        with contextlib.suppress(Exception):
            whole = (node.size or 0) * max(node.dtype.itemsize, 1) <= TRIED_WHOLE
            for part in [()] if whole else [slice(1), slice(-1, None)]:
                node[part]


def _limit_this_process() -> None:
    """Let it die without traces, and let it die if it does not end."""
    import resource  # which Windows has not

    faulthandler.disable()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(LONGEST_WAIT)
    for what, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_CPU, LONGEST_LOOK)):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(what, (most, most))


def _datasets(file: Any, names: Iterable[str]) -> Iterator[Any]:
    import h5py

    for node in _nodes(file, names):
        if isinstance(node, h5py.Dataset):
            if node.external or node.is_virtual:
                raise ValueError(f"the values of {node.name} are in another file")
            yield node


def _nodes(file: Any, names: Iterable[str]) -> Iterator[Any]:
    """Every group and dataset from these on."""
    import h5py

    waiting, seen = [(file, name) for name in names], set()
    while waiting:
        owner, name = waiting.pop()
        if not isinstance(owner.get(name, getlink=True), h5py.HardLink):
            raise ValueError(f"{name} is a link to elsewhere")
        node = owner[name]
        place = h5py.h5o.get_info(node.id).addr
        if place in seen:
            raise ValueError(f"{name} is there under two names")
        seen.add(place)
        if isinstance(node, h5py.Group):
            waiting += [(node, child) for child in node]
        yield node
