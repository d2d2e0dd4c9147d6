"""The options of the commands, with the words that explain them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

COLUMNS, METHOD, RESULTS = "What to look at", "What to look for", "What comes out"

Table = Annotated[
    str,
    typer.Argument(
        help="csv, tsv (any usual separator), parquet, feather, npy, npz, mat or h5ad, also "
        "packed (gz, zip); - reads csv from stdin."
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Known classes: set aside first, used only to report agreement, never to select.",
        rich_help_panel=COLUMNS,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help='Leave columns out: a name, several (a,b), or a pattern ("*_mut").',
        rich_help_panel=COLUMNS,
    ),
]
Use = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Use a column although it looks like an id, a date or free text.",
        rich_help_panel=COLUMNS,
    ),
]
NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header",
        help="The first line of the csv is data, not names.",
        rich_help_panel=COLUMNS,
    ),
]
Image = Annotated[
    str | None,
    typer.Option(
        metavar="HxW",
        help="Columns are the pixels of images, column by column, e.g. 32x24.",
        rich_help_panel=COLUMNS,
    ),
]
Budget = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Select this many features.", rich_help_panel=METHOD),
]
Groups = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=2,
        help="Look for this many groups; found out if left out.",
        rich_help_panel=METHOD,
    ),
]
Significant = Annotated[
    bool,
    typer.Option(
        "--significant",
        help="Keep every group whose score stands out from chance, its gate open or not.",
        rich_help_panel=METHOD,
    ),
]
Sparsity = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        min=0.01,
        help="Higher keeps fewer groups: 0.25 to 3 is useful, 0.7 if left out.",
        rich_help_panel=METHOD,
    ),
]
Path24 = Annotated[
    bool,
    typer.Option(
        "--path",
        help="Train 24 sparsities and take the one with the largest gain.",
        rich_help_panel=METHOD,
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="With --path: keep the state of training here; if killed, run it again to go on.",
        rich_help_panel=METHOD,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        metavar="N", min=0, help="The same seed gives the same result.", rich_help_panel=METHOD
    ),
]
Device = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="cpu, cuda, cuda:1 or mps; auto takes a GPU if there is one.",
        autocompletion=lambda: ["auto", "cpu", "cuda", "mps"],
        rich_help_panel=METHOD,
    ),
]
OutFolder = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FOLDER",
        help="Folder for the results; groupfs-<name of the file> if left out.",
        rich_help_panel=RESULTS,
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace results that exist.", rich_help_panel=RESULTS),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print JSON for machines.", rich_help_panel=RESULTS),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="No progress and no remarks on stderr, only errors.",
        rich_help_panel=RESULTS,
    ),
]
Model = Annotated[Path, typer.Argument(help="model.skops of groupfs select.")]
OutTable = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="csv, csv.gz, tsv, parquet, feather or npy to write; csv on stdout if left out.",
        rich_help_panel=RESULTS,
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Carry a column along, e.g. an id; repeat it for more.",
        rich_help_panel=COLUMNS,
    ),
]
AsIs = Annotated[
    bool,
    typer.Option(
        "--as-is",
        help="Columns as the file has them: nothing encoded, nothing filled in.",
        rich_help_panel=COLUMNS,
    ),
]
Result = Annotated[Path, typer.Argument(help="result.json of groupfs select.")]
OutPage = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="HTML file to write; report.html beside the result if left out.",
        rich_help_panel=RESULTS,
    ),
]


def default_folder(table: str) -> Path:
    """Where the results of a file go if nothing is said."""
    name = "stdin" if table == "-" else Path(table).name
    unpacked = re.sub(r"(?i)\.(gz|zip|bz2|xz)$", "", name)
    return Path(f"groupfs-{Path(unpacked).stem}")


def image_shape(text: str | None) -> tuple[int, int] | None:
    """Height and width from text such as 32x24."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,9})[xX,](\d{1,9})", text.strip())
    if not found:
        raise typer.BadParameter(f"--image {text}: give height and width in pixels, e.g. 32x24.")
    return int(found[1]), int(found[2])
