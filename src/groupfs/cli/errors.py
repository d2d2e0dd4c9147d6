"""End a command: every error as one sentence on stderr, and an exit code that means something.

Only light modules are imported here, so that ``groupfs --help`` is quick.
"""

import contextlib
import os
import re
import shlex
import signal
import sys
import warnings
from collections.abc import Iterator
from enum import IntEnum

import typer

from groupfs.cli.options import OF_COLUMNS, PARAMETERS
from groupfs.cli.result_folder import OutputError


class Code(IntEnum):
    """Exit codes, as the help says; 2, wrong usage, is typer's."""

    UNEXPECTED = 1
    INPUT = 3
    TABLE = 4
    OUTPUT = 5
    EXTRA = 6
    INTERRUPTED = 130
    PIPE_CLOSED = 141


CODES_HELP = (
    "[bold]Exit codes:[/bold] 0 done; 1 unexpected error; 2 wrong usage; 3 a file cannot be read; "
    "4 its table does not fit what was asked; 5 results exist already or cannot be written; "
    "6 a package is missing; 130 interrupted."
)
#: Parameters of the library, and the options that set them.
OPTIONS = {
    name: name for name in (*OF_COLUMNS, "keep", "direction", "layer", "use_raw")
} | PARAMETERS
OPTIONS = {name: f"--{field.replace('_', '-')}" for name, field in OPTIONS.items()}
_SETTING = re.compile(rf"""\b({"|".join(OPTIONS)})=(".*?"|'.*?'|\[.*?\]|[^\s,;:)]+)""")
#: Alone, only names that are no words of English are surely parameters.
_NAME = re.compile(
    rf"\b({'|'.join(name for name in OPTIONS if '_' in name)})\b"
    rf"|(?<=\bleave )({'|'.join(OPTIONS)})(?= out\b)"
)
#: The library's tables are called X; so may be a column, but it neither has nor holds anything.
_TABLE = re.compile(r"\bX(?= (has|holds|contains|lacks)\b)|(?<=\bof )X\b")


def translate(sentence: str) -> str:
    """Put a sentence of the library into the words of the command line, on one line.

    >>> translate('n_groups=9 but X has 3 features, so choose n_groups <= 2 or "auto".')
    '--groups 9 but the table has 3 features, so choose --groups <= 2, or leave it out.'
    """
    sentence = _SETTING.sub(lambda m: _as_option(m[1], m[2]), sentence)
    sentence = _NAME.sub(lambda m: OPTIONS[m[0]], sentence)
    sentence = _TABLE.sub("the table", sentence).replace(' or "auto".', ", or leave it out.")
    return " ".join(sentence.split())


def _as_option(parameter: str, value: str) -> str:
    texts = re.findall(r"""(['"])(.*?)\1""", value)
    if value.startswith("[") and texts:  # an option each
        return " ".join(f"{OPTIONS[parameter]} {shlex.quote(text)}" for _, text in texts)
    value, is_flag = value.strip("[]'\""), value == "True"
    value = "kept" if value == "significant" else value
    return OPTIONS[parameter] if is_flag else f"{OPTIONS[parameter]} {value}"


@contextlib.contextmanager
def exit_codes() -> Iterator[None]:
    """End the command with a sentence and a code, whatever happens inside."""
    # a polite kill undoes what is unfinished, as Ctrl-C does
    terminate = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _tell  # type: ignore[assignment]
            yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        _exit("Interrupted; no unfinished result was left behind.", Code.INTERRUPTED)
    except Exception as error:
        if os.environ.get("GROUPFS_TRACEBACK"):
            raise
        if _is_of_stdout(error):
            # or Python would try to print the rest when it ends, and fail once more
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader of our output has seen enough
            raise typer.Exit(Code.PIPE_CLOSED) from None
        _exit(*sentence_and_code(error))
    finally:
        signal.signal(signal.SIGTERM, terminate)


def _tell(message: Warning | str, category: type[Warning], *_: object) -> None:
    """Print a warning of ours as a sentence, without its place; others are not for users."""
    if category.__module__.startswith("groupfs."):
        typer.echo(f"- {translate(str(message))}", err=True)


def _is_of_stdout(error: Exception) -> bool:
    """Return whether no file is to blame: those that are opened have names."""
    return isinstance(error, OSError) and not isinstance(error, OutputError) and not error.filename


def _exit(sentence: str, code: Code) -> None:
    typer.echo(f"groupfs: {sentence}", err=True)
    raise typer.Exit(int(code))


def sentence_and_code(error: Exception) -> tuple[str, Code]:
    from groupfs.files import TableError
    from groupfs.persistence import ModelError
    from groupfs.utils.errors import ParameterError

    text = str(error).strip()
    if isinstance(error, TableError | ModelError):
        return text, Code.INPUT
    if isinstance(error, OutputError):
        return translate(text), Code.OUTPUT
    if isinstance(error, ImportError):
        return text, Code.EXTRA
    if isinstance(error, MemoryError) or "out of memory" in text.lower():
        return "There is not enough memory for this table; try fewer rows.", Code.TABLE
    if isinstance(error, ParameterError):
        option, sentence = OPTIONS.get(error.parameter, ""), translate(text)
        return sentence if option in sentence else f"{option}: {sentence}", Code.TABLE
    if isinstance(error, ValueError) and not isinstance(error, UnicodeError):
        return translate(text), Code.TABLE
    if isinstance(error, OSError):
        why = error.strerror or text
        if _is_of_stdout(error):
            return f"standard output cannot be written: {why.lower()}.", Code.OUTPUT
        return f"{error.filename}: {why}.", Code.INPUT
    return (
        f"Something unexpected happened ({type(error).__name__}: {text}); this is a fault of "
        "groupfs: please report it with what GROUPFS_TRACEBACK=1 groupfs ... prints."
    ), Code.UNEXPECTED
