"""How a command ends: every error as one sentence on stderr, and an exit code that means something.

Only light modules are imported here, so that ``groupfs --help`` is quick.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from enum import IntEnum

import typer


class Code(IntEnum):
    """Exit codes, as the help says."""

    DONE = 0
    UNEXPECTED = 1
    USAGE = 2
    INPUT = 3
    TABLE = 4
    OUTPUT = 5
    EXTRA = 6
    INTERRUPTED = 130
    PIPE_CLOSED = 141


INTERRUPTED = "Interrupted; no unfinished result was left behind."
CODES_HELP = (
    "[bold]Exit codes:[/bold] 0 done; 1 unexpected error; 2 wrong usage; 3 a file cannot be read; "
    "4 its table does not fit what was asked; 5 results exist already or cannot be written; "
    "6 a package is missing; 130 interrupted."
)
#: Names of the estimators' parameters in their messages, and the options they stand for.
OPTIONS = (
    (r"n_features_to_select=", "--budget "),
    (r"n_groups=", "--groups "),
    (r"""\bdevice=['"]([\w:.]+)['"]""", r"--device \1"),
    (r"""\bcheckpoint=['"](.*?)['"]""", r"--checkpoint \1"),
    (r"n_features_to_select", "--budget"),
    (r"n_groups", "--groups"),
    (r' or "auto"\.', ", or leave it out."),
    (r"\bX (?=has|holds|contains)", "the table "),
    (r"\bof X\b", "of the table"),
)


class Interrupted(BaseException):
    """Ctrl-C. Training takes KeyboardInterrupt for "enough, keep what you have"; a command ends."""


@contextlib.contextmanager
def one_sentence() -> Iterator[None]:
    """End the command with a sentence and a code, whatever happens inside."""
    try:
        with _interrupts():
            yield
    except (typer.Exit, typer.BadParameter):
        raise
    except (Interrupted, KeyboardInterrupt):
        end(INTERRUPTED, Code.INTERRUPTED)
    except BrokenPipeError:  # the reader of our output has seen enough
        _print_no_more()
        raise typer.Exit(Code.PIPE_CLOSED) from None
    except Exception as error:
        if os.environ.get("GROUPFS_TRACEBACK"):
            raise
        end(*_words_and_code(error))


@contextlib.contextmanager
def printing() -> Iterator[None]:
    """Take what standard output refuses for a result that cannot be written."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as reason:
        from groupfs.utils.atomic_files import OutputError

        _print_no_more()
        why = str(reason.strerror).lower()
        raise OutputError(f"standard output cannot be written: {why}.") from reason


def end(sentence: str, code: Code) -> None:
    """Say a sentence on stderr and leave."""
    typer.echo(f"groupfs: {sentence}", err=True)
    raise typer.Exit(int(code))


def _print_no_more() -> None:
    """Python prints what is left when it ends, which would fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def _interrupts() -> Iterator[None]:
    """Have Ctrl-C, and a polite kill, undo what is unfinished."""

    def interrupt(number: int, frame: object) -> None:
        raise Interrupted

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {n: signal.signal(n, interrupt) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _words_and_code(error: Exception) -> tuple[str, Code]:
    from groupfs.persistence import ModelError
    from groupfs.tables import TableError
    from groupfs.tables.columns import ColumnsError
    from groupfs.utils.atomic_files import OutputError

    text = str(error).strip()
    if isinstance(error, TableError | ModelError):
        return text, Code.INPUT
    if isinstance(error, ColumnsError):
        return text, Code.TABLE
    if isinstance(error, OutputError):
        return as_options(text), Code.OUTPUT
    if isinstance(error, ImportError):
        return text, Code.EXTRA
    if isinstance(error, MemoryError) or "out of memory" in text.lower():
        return "There is not enough memory for this table; try fewer rows.", Code.TABLE
    if isinstance(error, ValueError) and not isinstance(error, UnicodeError):
        return as_options(text), Code.TABLE
    if isinstance(error, OSError):
        return f"{error.filename or 'A file'}: {error.strerror or text}.", Code.INPUT
    return (
        f"Something unexpected happened ({type(error).__name__}: {text}); this is a fault of "
        "groupfs: please report it with what GROUPFS_TRACEBACK=1 groupfs ... prints."
    ), Code.UNEXPECTED


def as_options(message: str) -> str:
    """An estimator's message in the words of the command line, on one line."""
    for name, option in OPTIONS:
        message = re.sub(name, option, message)
    return " ".join(message.split())
