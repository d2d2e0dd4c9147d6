"""Write files and folders aside, then rename them, so that they appear whole or not at all."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path


class OutputError(OSError):
    """A result that cannot be written; the message is one sentence for people."""


def write_file(path: Path, write: Callable[[Path], object]) -> None:
    """Have a file written aside by a function of its path, then put it in place."""
    with _aside(path, path) as aside:
        write(aside)
        os.replace(aside, path)


def write_folder(path: Path, write: Callable[[Path], object]) -> None:
    """Have files written aside by a function of their folder's path, then put them in place.

    A new folder appears with all its files at once. Files of the same name in a folder that is
    there already are replaced when all are written, and others stay. Such a folder is never
    replaced itself: it may be a mounted disk, or the one that somebody's shell is in.
    """
    exists = path.is_dir()
    with _aside(path, path / "results" if exists else path) as aside:
        aside.mkdir()
        write(aside)
        if not exists:
            os.rename(aside, path)
            return
        for file in list(aside.iterdir()):
            os.replace(file, path / file.name)


@contextlib.contextmanager
def _aside(path: Path, final: Path) -> Iterator[Path]:
    """Yield a free name beside the final one, where nothing is left; errors name ``path``."""
    # the ending stays last: writers of tables go by it
    aside = final.with_name(f".{secrets.token_hex(4)}-{final.name}")
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        yield aside
    except OutputError:
        raise
    except OSError as reason:
        why = str(reason.strerror or reason).lower()
        raise OutputError(
            f"{path} cannot be written ({why}); nothing was changed, so make room or choose "
            "another place."
        ) from reason
    finally:
        with contextlib.suppress(OSError):
            if aside.is_dir():
                shutil.rmtree(aside, ignore_errors=True)
            else:
                aside.unlink()
