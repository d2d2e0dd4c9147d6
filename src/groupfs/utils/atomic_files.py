"""Writing results: aside first, then renamed, so that they appear whole or not at all.

Nothing that exists is replaced without ``force``, and with it only what groupfs wrote itself.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import os
import secrets
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any


class OutputError(OSError):
    """A result that cannot be written; the message is one sentence for people."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


def check_folder(target: Path, own: Collection[str], force: bool) -> None:
    """Refuse early, before any work, a folder that could not be written in the end.

    Parameters
    ----------
    target : Path
        The folder to appear.
    own : collection of str
        Names of the files that will be in it; with ``force`` a folder is replaced only if it holds
        nothing else.
    force : bool
        Whether a folder that exists may be replaced.
    """
    target = _real(target)
    _refuse_to_replace(target, own, force)
    _probe(target)


def check_file(target: Path, force: bool) -> None:
    """Refuse early a file that could not be written in the end."""
    if target.is_dir():
        raise OutputError(f"{target} is a folder; name a file to write.")
    if os.path.lexists(target) and not force:
        raise OutputError(f"{target} exists; add --force to replace it, or name another file.")
    _probe(target)


@contextlib.contextmanager
def folder_aside(target: Path, own: Collection[str], force: bool = False) -> Iterator[Path]:
    """A new folder to write into, which takes the place of ``target`` when all went well.

    Where ``target`` cannot give up its place, being a disk or the folder we are in, the files are
    moved into it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from groupfs.utils.atomic_files import folder_aside
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with folder_aside(Path(place) / "results", ["a.txt"]) as aside:
    ...         _ = (aside / "a.txt").write_text("done")
    ...     sorted(path.name for path in Path(place).rglob("*"))
    ['a.txt', 'results']
    """
    target = _real(target)
    with _place_for(target) as aside:
        aside.mkdir()
        yield aside
        written = list(aside.iterdir())
        for path in written:
            _settle(path)
        _refuse_to_replace(target, own, force, aside)
        if aside.parent == target:
            for path in written:
                os.replace(path, target / path.name)
        elif target.is_dir():
            _swap(aside, target)
        else:
            os.rename(aside, target)
        settle_folder(target.parent)


def write_file(target: Path, write: Callable[[Path], object], force: bool = False) -> None:
    """Have a file written aside by a function of its path, then give it its name.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from groupfs.utils.atomic_files import write_file
    >>> with tempfile.TemporaryDirectory() as place:
    ...     path = Path(place) / "a.txt"
    ...     write_file(path, lambda aside: aside.write_text("done"))
    ...     path.read_text()
    'done'
    """
    with _place_for(target) as aside:
        write(aside)
        _settle(aside)
        check_file(target, force)
        os.replace(aside, target)
        settle_folder(target.parent)


def settle_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, where the system lets one ask for it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def csv_quoting(cells: Iterable[Any]) -> Any:
    """How to quote csv: its writer leaves a carriage return bare, which many take for a line's end.

    Examples
    --------
    >>> import csv
    >>> from groupfs.utils.atomic_files import csv_quoting
    >>> csv_quoting(["a", "b"]) == csv.QUOTE_MINIMAL
    True
    """
    torn = any("\r" in str(cell) for cell in cells)
    return csv.QUOTE_NONNUMERIC if torn else csv.QUOTE_MINIMAL


def _real(target: Path) -> Path:
    """The folder itself where a link to it is named, and the name of ``.``."""
    return Path(os.path.realpath(target))


@contextlib.contextmanager
def _place_for(target: Path) -> Iterator[Path]:
    """A path beside the target, or in it where it must stay.

    It is gone afterwards, as are folders made for it if that failed.
    """
    made: list[Path] = []
    stays = os.path.isdir(target) and (os.path.ismount(target) or target == Path.cwd())
    # the ending stays last: writers of tables go by it
    aside = (target if stays else target.parent) / f".{secrets.token_hex(4)}-{target.name}"
    try:
        made = _make_parents(target)
        yield aside
    except OSError as reason:
        if isinstance(reason, OutputError):
            raise
        raise OutputError(_sentence(target, reason)) from reason
    finally:
        _remove(aside)
        for folder in made:
            with contextlib.suppress(OSError):  # not empty: the target is in it
                folder.rmdir()


def _make_parents(target: Path) -> list[Path]:
    """Make the folders that lead to the target; those made, the innermost first."""
    absent = [folder for folder in target.absolute().parents if not folder.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        for folder in absent:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise
    return absent


def _probe(target: Path) -> None:
    with _place_for(target) as aside:
        aside.mkdir()


def _settle(path: Path) -> None:
    """Have a file on the disk before it gets its name; some say only now that they are full."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def _refuse_to_replace(
    target: Path, own: Collection[str], force: bool, aside: Path | None = None
) -> None:
    """Only a place that is free, an empty folder or with ``force`` our own results may go."""
    if not os.path.lexists(target):
        return
    if not target.is_dir():
        raise OutputError(f"{target} is a file; name a folder for the results.")
    there = sorted(path.name for path in target.iterdir() if path != aside)
    if there and not force:
        raise OutputError(f"{target} exists; add --force to replace it, or name another --out.")
    foreign = [name for name in there if name not in own]
    if foreign:
        raise OutputError(
            f"{target} holds files that groupfs did not write ({foreign[0]}"
            f"{f' and {len(foreign) - 1} more' if len(foreign) > 1 else ''}), so it is not "
            "replaced; name another --out."
        )


def _swap(aside: Path, target: Path) -> None:
    """Put a new folder in the place of an old one, which comes back if that fails."""
    old = target.parent / f".{secrets.token_hex(4)}-{target.name}"
    os.rename(target, old)
    try:
        os.rename(aside, target)
    except BaseException:
        os.rename(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def _sentence(target: Path, reason: OSError) -> str:
    if reason.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", None)):
        return (
            f"There is no room left on the disk for {target}; nothing was written: free some "
            "space or choose another place with --out."
        )
    if reason.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return (
            f"{target} cannot be written ({str(reason.strerror).lower()}); choose a place you may "
            "write to with --out."
        )
    what = reason.strerror or str(reason)
    return f"{target} cannot be written ({what[:1].lower()}{what[1:]}); nothing was written."
