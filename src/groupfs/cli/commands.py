"""The commands and what their help teaches; other modules of this folder do the work.

Whatever takes long to import is imported inside the commands.
"""

import io
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from groupfs.cli import options, printing
from groupfs.cli.errors import CODES_HELP, exit_codes

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
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # not every terminal has every letter
            stream.reconfigure(errors="backslashreplace")


@app.command(epilog=CODES_HELP)
def select(
    table: options.Table,
    label: options.Label = None,
    by: options.By = None,
    drop: options.Drop = None,
    use: options.Use = None,
    missing: options.Missing = None,
    order: options.Order = None,
    layer: options.Layer = None,
    use_raw: options.UseRaw = False,
    no_header: options.NoHeader = False,
    image: options.Image = None,
    budget: options.Budget = None,
    explain: options.Explain = None,
    representatives: options.Representatives = False,
    groups: options.Groups = None,
    significant: options.Significant = False,
    open_gates: options.OpenGates = False,
    sparsity: options.Sparsity = None,
    signed: options.Signed = False,
    similarity: options.Similarity = options.SimilarityName.CORRELATION,
    keep_unrelated: options.KeepUnrelated = False,
    path: options.SparsityPath = False,
    checkpoint: options.Checkpoint = None,
    seed: options.Seed = 0,
    device: options.Device = "auto",
    max_memory: options.MaxMemory = None,
    out: options.OutFolder = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the groups of a table's columns and select those that matter.

    Ids, free text and dates are ignored, answers such as "never" to "always"
    become 1, 2, ..., other text is taken for categories, and gaps stay gaps;
    you are told so by column. A folder appears with

      [bold]report.html[/bold]    what was found; open it in a browser
      [bold]selected.csv[/bold]   the selected features by name; groupfs apply gives their columns
      [bold]groups.csv[/bold]     every feature, its group, and why it was kept or not
      [bold]result.json[/bold]    all of it, for programs and for groupfs report
      [bold]model.skops[/bold]    the fitted model, for groupfs apply

    [bold]Examples[/bold]
      groupfs select data.csv
      groupfs select students.csv --label grade --drop "school*" -o students
      groupfs select genes.h5ad --budget 50 --label cell_type
      groupfs select genes.h5ad --use-raw
      groupfs select survey.sav --representatives --missing 99
      groupfs select survey.csv --explain 90%
      groupfs select patients.csv --by treatment
      zcat data.csv.gz | groupfs select - --json --quiet > selection.json
    """
    with exit_codes():
        if path and sparsity is not None:
            raise typer.BadParameter("--path tries many sparsities; leave out --sparsity.")
        if significant and open_gates:
            raise typer.BadParameter("--significant and --open-gates are two rules; choose one.")
        if checkpoint is not None and not path:
            raise typer.BadParameter("--checkpoint keeps the state of a path; add --path.")
        if use_raw and layer is not None:
            raise typer.BadParameter("--layer and --use-raw are two choices; give one of them.")
        others = {"--budget": budget, "--significant": significant, "--open-gates": open_gates}
        others["--representatives"] = representatives
        for option, given in others.items() if explain else ():
            if given:
                raise typer.BadParameter(
                    "--explain takes as many features of all groups as it needs; leave out "
                    f"{option}."
                )
        settings = {
            "n_features_to_select": options.budget(budget),
            "explain": options.explain(explain),
            "n_groups": groups,
            "n_groups_to_select": "significant" if significant else "open" if open_gates else None,
            "output": "representatives" if representatives else None,
            "sparsity": sparsity,
            "signed": signed or None,
            "similarity": similarity.value.replace("-", "_"),
            "keep_unrelated": keep_unrelated or None,
            "checkpoint": None if checkpoint is None else str(checkpoint),
            "random_state": seed,
            "device": device,
            "max_memory": max_memory,
        }
        request = {
            "out": out or options.default_folder(table),
            "force": force,
            "label": label,
            "by": by,
            "drop": drop or (),
            "use": use or (),
            "missing": missing or (),
            "order": order or (),
            "layer": layer,
            "use_raw": use_raw,
            "header": False if no_header else None,
            "image_shape": options.image_shape(image),
            "along_path": path,
        }
        _select_and_print(table, request, settings, as_json, quiet)


@app.command(epilog=CODES_HELP)
def apply(
    model: options.Model,
    table: options.Table,
    keep: options.Keep = None,
    no_header: options.NoHeader = False,
    out: options.OutTable = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Select the same columns of another table.

    Their values are written as the file has them, but for answers in words and
    codes for no answer that the selection took for numbers and gaps.
    Only the selected columns need to be there; missing ones are named.
    Loading a model never runs code from it.

    [bold]Examples[/bold]
      groupfs apply groupfs-data/model.skops new.csv > small.csv
      groupfs apply groupfs-data/model.skops new.csv --keep patient -o small.parquet
    """
    with exit_codes():
        from groupfs.cli.apply import apply as apply_model

        report_progress, note = printing.progress_and_notes(quiet)
        n_rows, n_columns = apply_model(
            model,
            table,
            out,
            keep=keep or (),
            header=False if no_header else None,
            force=force,
            note=note,
        )
        columns = "1 column" if n_columns == 1 else f"{n_columns} columns"
        report_progress(f"Wrote {n_rows} rows and {columns}{f' to {out}' if out else ''}")


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
    with exit_codes():
        from groupfs.cli.result_folder import write_report

        result = result / "result.json" if result.is_dir() else result
        target = out or result.with_name("report.html")
        write_report(result, target, force)
        if not quiet:
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
    with exit_codes():
        request = {"out": out, "force": force, "label": "moon"}
        _select_and_print(None, request, {"random_state": seed, "device": device}, as_json, quiet)


@app.command(epilog=CODES_HELP)
def datasets(as_json: options.AsJson = False) -> None:
    """List the paper's tables and whether their files are at hand.

    The folder is the one the environment variable GROUPFS_DATA names,
    else ~/groupfs_data. In Python, groupfs.datasets.fetch_dataset("yale")
    reads a table and downloads it first where that is possible.
    """
    with exit_codes():
        from groupfs.cli.doctor import find_datasets

        printing.print_record(find_datasets(), as_json, printing.print_datasets)


@app.command(epilog=CODES_HELP)
def doctor(as_json: options.AsJson = False) -> None:
    """Show versions, the device and which extras are installed.

    Paste this into a report of a fault.
    """
    with exit_codes():
        from groupfs.cli.doctor import examine

        printing.print_record(examine(), as_json, printing.print_doctor)


def _select_and_print(
    table: str | None,
    request: dict[str, Any],
    settings: dict[str, Any],
    as_json: bool,
    quiet: bool,
) -> None:
    from groupfs.cli.request import Request
    from groupfs.cli.select import select

    given = {name: value for name, value in settings.items() if value is not None}
    given["verbose"] = int(not quiet and sys.stderr.isatty())  # a bar is not for a file of stderr
    started = time.perf_counter()
    summary = select(table, Request(**request, settings=given), *printing.progress_and_notes(quiet))
    printing.print_outcome(summary, request["out"], time.perf_counter() - started, as_json)
