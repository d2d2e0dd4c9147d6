"""Words given to the ``groupfs`` command, which prepares but neither trains nor writes."""

import contextlib

from groupfs.cli import app, apply, report, select
from groupfs.cli.errors import Code

#: Endings that say whose fault it was; an unexpected error is not among them.
REFUSALS = {Code.USAGE, Code.INPUT, Code.TABLE, Code.OUTPUT, Code.EXTRA}


def run_command(path):
    """Run the words of a file as a command in the file's folder."""
    from typer.testing import CliRunner

    from tests.support.fuzz.checks import Refused, Unsound

    words = path.read_bytes().decode("utf-8", errors="surrogateescape").split("\n")
    # a process cannot be given a NUL, nor text that no terminal writes
    words = [word.replace("\0", "").encode("utf-8", "replace").decode() for word in words]
    with contextlib.chdir(path.parent), _without_work():
        ended = CliRunner().invoke(app, words[:50], env={"COLUMNS": "80"})
    if isinstance(ended.exception, Exception) and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    if ended.exit_code in REFUSALS:
        raise Refused(f"ended with {ended.exit_code}.")
    if ended.exit_code != Code.DONE:
        raise Unsound(f"ended with {ended.exit_code}: {ended.output[-500:]!r}")


@contextlib.contextmanager
def _without_work():
    """Stop where training or writing would begin."""
    from typer import Exit

    def leave(estimator, X):
        raise Exit(0)

    kept = select._fit, apply.write_file, report.write_file, apply._print_csv
    select._fit = leave
    apply.write_file = report.write_file = lambda out, write: None
    apply._print_csv = lambda frame: None
    try:
        yield
    finally:
        select._fit, apply.write_file, report.write_file, apply._print_csv = kept
