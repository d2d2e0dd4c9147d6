"""The options of the commands, with the words that explain them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

COLUMNS, METHOD, RESULTS = "What to look at", "What to look for", "What comes out"


def _option(panel: str, *names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


Table = Annotated[
    str,
    typer.Argument(
        help="csv, tsv (any usual separator), parquet, feather, npy, npz, mat or h5ad, also "
        "packed (gz, zip); - reads csv from stdin."
    ),
]
Model = Annotated[Path, typer.Argument(help="model.skops of groupfs select.")]
Result = Annotated[Path, typer.Argument(help="result.json of groupfs select.")]

Label = Annotated[
    str | None,
    _option(
        COLUMNS,
        metavar="COLUMN",
        help="Known classes: set aside first, used only to report agreement, never to select.",
    ),
]
Drop = Annotated[
    list[str] | None,
    _option(
        COLUMNS,
        metavar="COLUMN",
        help='Leave columns out: a name, several (a,b), or a pattern ("*_mut").',
    ),
]
Use = Annotated[
    list[str] | None,
    _option(
        COLUMNS,
        metavar="COLUMN",
        help="Use a column although it looks like an id, a date or free text.",
    ),
]
NoHeader = Annotated[
    bool, _option(COLUMNS, "--no-header", help="The first line of the csv is data, not names.")
]
Image = Annotated[
    str | None,
    _option(
        COLUMNS,
        metavar="HxW",
        help="Columns are the pixels of images, column by column, e.g. 32x24.",
    ),
]
Keep = Annotated[
    list[str] | None,
    _option(
        COLUMNS, metavar="COLUMN", help="Carry a column along, e.g. an id; repeat it for more."
    ),
]
AsIs = Annotated[
    bool,
    _option(
        COLUMNS, "--as-is", help="Columns as the file has them: nothing encoded, nothing filled in."
    ),
]

Budget = Annotated[
    int | None, _option(METHOD, metavar="N", min=1, help="Select this many features.")
]
Groups = Annotated[
    int | None,
    _option(METHOD, metavar="N", min=2, help="Look for this many groups; found out if left out."),
]
Significant = Annotated[
    bool,
    _option(
        METHOD,
        "--significant",
        help="Keep every group whose score stands out from chance, its gate open or not.",
    ),
]
Sparsity = Annotated[
    float | None,
    _option(
        METHOD,
        metavar="X",
        min=0.01,
        help="Higher keeps fewer groups: 0.25 to 3 is useful, 0.7 if left out.",
    ),
]
SparsityPath = Annotated[
    bool,
    _option(METHOD, "--path", help="Train 24 sparsities and take the one with the largest gain."),
]
Checkpoint = Annotated[
    Path | None,
    _option(
        METHOD,
        metavar="FOLDER",
        help="With --path: keep the state of training here; if killed, run it again to go on.",
    ),
]
Seed = Annotated[
    int, _option(METHOD, metavar="N", min=0, help="The same seed gives the same result.")
]
Device = Annotated[
    str,
    _option(
        METHOD,
        metavar="NAME",
        help="cpu, cuda, cuda:1 or mps; auto takes a GPU if there is one.",
        autocompletion=lambda: ["auto", "cpu", "cuda", "mps"],
    ),
]

OutFolder = Annotated[
    Path | None,
    _option(
        RESULTS,
        "--out",
        "-o",
        metavar="FOLDER",
        help="Folder for the results; groupfs-<name of the file> if left out.",
    ),
]
OutTable = Annotated[
    Path | None,
    _option(
        RESULTS,
        "--out",
        "-o",
        metavar="FILE",
        help="csv, csv.gz, tsv, parquet, feather or npy to write; csv on stdout if left out.",
    ),
]
OutPage = Annotated[
    Path | None,
    _option(
        RESULTS,
        "--out",
        "-o",
        metavar="FILE",
        help="HTML file to write; report.html beside the result if left out.",
    ),
]
Force = Annotated[bool, _option(RESULTS, "--force", help="Replace results that exist.")]
AsJson = Annotated[bool, _option(RESULTS, "--json", help="Print JSON for machines.")]
Quiet = Annotated[
    bool,
    _option(RESULTS, "--quiet", "-q", help="No progress and no remarks on stderr, only errors."),
]


def default_folder(table: str) -> Path:
    """Name the folder for the results of a file after the file."""
    name = "stdin" if table == "-" else Path(table).name
    unpacked = re.sub(r"(?i)\.(gz|zip|bz2|xz)$", "", name)
    return Path(f"groupfs-{Path(unpacked).stem}")


def image_shape(text: str | None) -> tuple[int, int] | None:
    """Read height and width from text such as 32x24."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,9})[xX,](\d{1,9})", text.strip())
    if not found:
        raise typer.BadParameter(f"--image {text}: give height and width in pixels, e.g. 32x24.")
    return int(found[1]), int(found[2])
