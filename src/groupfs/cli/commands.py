"""The commands and what their help teaches; the work is done next door.

Whatever takes long to import is imported inside the commands.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from groupfs.cli import options
from groupfs.cli.errors import CODES_HELP, INTERRUPTED, Code, one_sentence, printing


class Command(typer.Typer):
    """Also ends in one sentence if Ctrl-C comes before a command has begun."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # not every terminal has every letter
                stream.reconfigure(errors="backslashreplace")
        try:
            return super().__call__(*args, **kwargs)
        except KeyboardInterrupt:
            typer.echo(f"groupfs: {INTERRUPTED}", err=True)
            sys.exit(int(Code.INTERRUPTED))


class Screen(Console):
    """Prints names as they are, and leaves readers that stop early to ``endings``."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(highlight=False, emoji=False, **settings)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


app = Command(
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
        "  groupfs select --help       all that can be set, with examples"
    ),
    epilog=CODES_HELP,
)


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
    pass


@app.command(epilog=CODES_HELP)
def select(
    table: options.Table,
    label: options.Label = None,
    drop: options.Drop = None,
    use: options.Use = None,
    no_header: options.NoHeader = False,
    image: options.Image = None,
    budget: options.Budget = None,
    groups: options.Groups = None,
    significant: options.Significant = False,
    sparsity: options.Sparsity = None,
    path: options.Path24 = False,
    checkpoint: options.Checkpoint = None,
    seed: options.Seed = 0,
    device: options.Device = "auto",
    out: options.OutFolder = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the groups of a table's columns and select those that matter.

    Ids, free text and dates are ignored, text is encoded, gaps are filled;
    you are told what was done to which column. A folder appears with

      [bold]report.html[/bold]    what was found; open it in a browser
      [bold]selected.csv[/bold]   the selected features by name; groupfs apply gives their columns
      [bold]groups.csv[/bold]     every feature, its group, and why it was kept or not
      [bold]result.json[/bold]    all of it, for programs and for groupfs report
      [bold]model.skops[/bold]    the fitted model, for groupfs apply

    [bold]Examples[/bold]
      groupfs select data.csv
      groupfs select students.csv --label grade --drop "school*" -o students
      groupfs select genes.h5ad --budget 50 --label cell_type
      zcat data.csv.gz | groupfs select - --json --quiet > selection.json
    """
    with one_sentence():
        from groupfs.cli import select as work

        if path and sparsity is not None:
            raise typer.BadParameter("--path tries many sparsities; leave out --sparsity.")
        if checkpoint is not None and not path:
            raise typer.BadParameter("--checkpoint keeps the state of a path; add --path.")
        settings: dict[str, Any] = {"n_features_to_select": budget}
        if groups is not None:
            settings["n_groups"] = groups
        if significant:
            settings["n_groups_to_select"] = "significant"
        if sparsity is not None:
            settings["sparsity"] = sparsity
        if checkpoint is not None:
            settings["checkpoint"] = str(checkpoint)
        request = work.Request(
            out=options.default_folder(table) if out is None else out,
            force=force,
            label=label,
            drop=drop or (),
            use=use or (),
            header=False if no_header else None,
            image_shape=options.image_shape(image),
            along_path=path,
            settings={**settings, **_common_settings(seed, device, quiet)},
        )
        _print_outcome(work.select(table, request, *_voices(quiet)), as_json)


@app.command(epilog=CODES_HELP)
def apply(
    model: options.Model,
    table: options.Table,
    keep: options.Keep = None,
    as_is: options.AsIs = False,
    no_header: options.NoHeader = False,
    out: options.OutTable = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Select the same columns of another table.

    Text is encoded and gaps are filled as they were when the model was made.
    Only the selected columns need to be there; missing ones are named.
    Loading a model never runs code from it.

    [bold]Examples[/bold]
      groupfs apply groupfs-data/model.skops new.csv > small.csv
      groupfs apply groupfs-data/model.skops new.csv --keep patient -o small.parquet
    """
    with one_sentence():
        from groupfs.cli import apply as reuse

        say, remark = _voices(quiet)
        n_rows, n_columns = reuse.apply(
            model,
            table,
            out,
            keep=keep or (),
            as_is=as_is,
            header=False if no_header else None,
            force=force,
            remark=remark,
        )
        columns = "1 column" if n_columns == 1 else f"{n_columns} columns"
        say(f"Wrote {n_rows} rows and {columns}{f' to {out}' if out else ''}")


@app.command(epilog=CODES_HELP)
def report(
    result: options.Result,
    out: options.OutPage = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Write the report of a result again, e.g. after an upgrade.

    [bold]Example[/bold]
      groupfs report groupfs-data/result.json --out report.html
    """
    with one_sentence():
        from groupfs.cli import apply as reuse

        result = result / "result.json" if result.is_dir() else result
        target = result.with_name("report.html") if out is None else out
        reuse.report(result, target, force)
        if not quiet:
            with printing():
                typer.echo(f"Open {target} in a browser.")


@app.command(epilog=CODES_HELP)
def demo(
    seed: options.Seed = 0,
    device: options.Device = "auto",
    out: options.OutFolder = Path("groupfs-demo"),
    force: options.Force = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the groups of the two moons: 20 features, of which 10 are noise.

    Five features copy the first coordinate of the moons, five the second.
    Nothing is set; the groups are found from the table alone.
    """
    with one_sentence():
        from groupfs.cli import select as work
        from groupfs.cli.moons import two_moons

        request = work.Request(
            out=Path("groupfs-demo") if out is None else out,
            force=force,
            label="moon",
            settings=_common_settings(seed, device, quiet),
        )
        _print_outcome(work.select_from(two_moons(), request, *_voices(quiet)), as_json)


@app.command(epilog=CODES_HELP)
def datasets(as_json: options.AsJson = False) -> None:
    """List the paper's tables and whether their files are at hand.

    The folder is the one the environment variable GROUPFS_DATA names,
    else ~/groupfs_data. In Python, groupfs.datasets.fetch_dataset("yale")
    reads a table and downloads it first where that is possible.
    """
    with one_sentence():
        from groupfs.cli import doctor as inform
        from groupfs.cli import printing as show

        found = inform.datasets()
        with printing():
            if as_json:
                typer.echo(json.dumps(found, indent=2))
            else:
                show.show_datasets(found, Screen())


@app.command(epilog=CODES_HELP)
def doctor(as_json: options.AsJson = False) -> None:
    """Show versions, the device and which extras are installed.

    Paste this into a report of a fault.
    """
    with one_sentence():
        from groupfs.cli import doctor as inform
        from groupfs.cli import printing as show

        found = inform.doctor()
        with printing():
            if as_json:
                typer.echo(json.dumps(found, indent=2))
            else:
                show.show_doctor(found, Screen())


def _common_settings(seed: int, device: str, quiet: bool) -> dict[str, Any]:
    """Settings of the estimator; its bar is for terminals, not for files that stderr goes to."""
    bar = not quiet and sys.stderr.isatty()
    return {"random_state": seed, "device": device, "verbose": int(bar)}


def _voices(quiet: bool) -> tuple[Callable[[str], None], Callable[[str], None]]:
    """A voice for the steps and one for remarks on the columns, both on stderr."""
    console = Screen(stderr=True, quiet=quiet)

    def say(text: str) -> None:
        console.print(f"[bold]{escape(text)}[/bold]", soft_wrap=True)

    def remark(text: str) -> None:
        console.print(f"[dim]-[/dim] {escape(text)}")

    return say, remark


def _print_outcome(outcome: Any, as_json: bool) -> None:
    from groupfs.cli import printing as show

    with printing():
        if as_json:
            typer.echo(show.outcome_as_json(outcome))
            return
        console = Screen()
        console.width = min(console.width, show.WIDEST)
        show.show_outcome(outcome, console)
