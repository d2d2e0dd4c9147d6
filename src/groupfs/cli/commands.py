"""The commands and what their help teaches; other modules of this folder do the work.

Whatever takes long to import is imported inside the commands.
"""

import functools
import inspect
import io
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from groupfs.cli import options, printing
from groupfs.cli.errors import CODES_HELP, exit_codes
from groupfs.cli.options import (
    ApplyRequest,
    CheckRequest,
    PageRequest,
    ScoresRequest,
    SelectRequest,
)

app = typer.Typer(
    name="groupfs",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=(
        "Find groups of features in a table, and which of them matter. No labels needed.\n\n"
        "[bold]Start here[/bold]\n"
        "  groupfs demo                two moons, to see what comes out\n"
        "  groupfs select data.csv     your own table: groups, selection, report\n"
        "  groupfs select --help       all that can be set, with examples\n"
        "  groupfs app                 a page in the browser in place of commands"
    ),
    epilog=CODES_HELP,
)


def takes_request(command: Callable[[Any], None]) -> Callable[..., None]:
    """Have typer read the fields of a request as the options of a command, and end it well."""
    request = inspect.signature(command).parameters["request"].annotation

    @functools.wraps(command)
    def from_options(**given: Any) -> None:
        with exit_codes():
            command(request(**given))

    from_options.__signature__ = inspect.signature(request)  # type: ignore[attr-defined]
    return from_options


def _show_version(value: bool) -> None:
    if value:
        from groupfs import __version__

        typer.echo(f"groupfs {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # not every terminal has every letter
            stream.reconfigure(errors="backslashreplace")


@app.command(epilog=CODES_HELP)
@takes_request
def select(request: SelectRequest) -> None:
    """Find the groups of a table's columns and select those that matter.

    Ids, free text and dates are ignored, answers such as "never" to "always"
    become 1, 2, ..., other text is taken for categories, and gaps stay gaps;
    you are told so by column. A folder appears with

      [bold]report.html[/bold]    what was found; open it in a browser
      [bold]selected.csv[/bold]   the selected features by name; groupfs apply gives their columns
      [bold]groups.csv[/bold]     every feature, its group, and why it was kept or not
      [bold]scales.csv[/bold]     every group: alpha, omega, correlations with the others
      [bold]result.json[/bold]    all of it, for programs
      [bold]model.skops[/bold]    the fitted model, for groupfs scores and apply

    [bold]Examples[/bold]
      groupfs select data.csv
      groupfs select students.csv --label grade --drop "school*" -o students
      groupfs select genes.h5ad --budget 50 --label cell_type
      groupfs select genes.h5ad --use-raw
      groupfs select survey.sav --representatives --missing 99
      groupfs select survey.csv --explain 90%
      groupfs select survey.csv --level broad --from-groups kept
      groupfs select survey.csv --columns "q1:q40" --scores --keep id,age
      groupfs select patients.csv --by treatment
      zcat data.csv.gz | groupfs select - --json --quiet > selection.json
    """
    from groupfs.cli.select import select

    started = time.perf_counter()
    summary = select(request, *printing.progress_and_notes(request.quiet))
    printing.print_outcome(summary, request, time.perf_counter() - started)


@app.command(epilog=CODES_HELP)
@takes_request
def apply(request: ApplyRequest) -> None:
    """Select the same columns of another table.

    Their values are written as the file has them, but for answers in words and
    codes for no answer that the selection took for numbers and gaps.
    Columns that are missing are named and left out; those of another name are
    found by a codebook (--labels).
    Loading a model never runs code from it.

    [bold]Examples[/bold]
      groupfs apply groupfs-data/model.skops new.csv > small.csv
      groupfs apply groupfs-data/model.skops new.csv --keep patient -o small.parquet
    """
    from groupfs.cli.other_table import apply

    apply(request, *printing.progress_and_notes(request.quiet))


@app.command(epilog=CODES_HELP)
@takes_request
def scores(request: ScoresRequest) -> None:
    """Score every row of a table on every group: one column a group.

    A score is the mean of the standardised answers that a row has, central
    features counting more and reversed ones turned: 0 is the mean of the table
    that the groups were found in. A group runs in the direction of the feature
    it is named after, or of one of yours (--direction). Columns may come in
    another order, others beside them, and some may be missing: rows are scored
    by what is there, and you are told what is not.

    [bold]Examples[/bold]
      groupfs scores groupfs-survey survey.sav --keep id -o scores.csv
      groupfs scores groupfs-survey survey.sav --keep id,sex,age -o scores.sav
      groupfs scores groupfs-survey next_year.csv --labels codebook.csv
      groupfs scores groupfs-survey survey.csv --level all --direction q7
    """
    from groupfs.cli.other_table import scores

    scores(request, *printing.progress_and_notes(request.quiet))


@app.command(epilog=CODES_HELP)
@takes_request
def check(request: CheckRequest) -> None:
    """Check whether the groups hold in another table: other people, next year.

    Every group is preserved (its columns go together about as much, in the
    same pattern), weaker, or gone. Columns that are lost or reversed are named,
    and so are those that are missing. Nothing is fitted again. With --out a
    folder is written with

      [bold]check.csv[/bold]           every group of every level
      [bold]check-features.csv[/bold]  every column: whether it holds, and where it is now
      [bold]report.html[/bold]         the report of the model, with a section on this table

    [bold]Examples[/bold]
      groupfs check groupfs-survey next_year.csv
      groupfs check groupfs-survey next_year.csv --labels codebook.csv -o checked
    """
    from groupfs.cli.check import check

    printing.print_check(check(request, *printing.progress_and_notes(request.quiet)))


@app.command(name="app", epilog=CODES_HELP)
@takes_request
def open_page(request: PageRequest) -> None:
    """Open a page in the browser that needs no commands.

    Drop a file, see what its columns were taken for, look for groups, and take
    away the report, scores and a short form. Nothing leaves this machine, and
    nothing is kept when the page is closed. Without a browser here, the address
    is printed.
    """
    from groupfs.cli.page.server import serve

    serve(request, typer.echo)


@app.command(epilog=CODES_HELP)
def demo(
    out: options.OutFolder = Path("groupfs-demo"),
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the groups of the two moons: 20 features, of which 10 are noise.

    Five features copy the first coordinate of the moons, five the second.
    Nothing is set; the groups are found from the table alone.
    """
    select(table=None, label="moon", out=out, force=force, json=json, quiet=quiet)


@app.command(epilog=CODES_HELP)
def doctor() -> None:
    """Show versions, the device and which extras are installed.

    Paste this into a report of a fault.
    """
    with exit_codes():
        from groupfs.cli.doctor import examine

        for name, text in examine():
            typer.echo(f"{name:<18}{text}")
