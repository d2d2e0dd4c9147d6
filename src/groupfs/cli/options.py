"""The options of the commands, with the words that explain them."""

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

#: The usage of every option and what the help says of it, by panel.
HELP = {
    "What to look at": {
        "--label COLUMN": "Known classes: set aside first, used only to report agreement, never "
        "to select.",
        "--by COLUMN": "Compare groups between the values of a column, set aside first; numbers "
        "with more than 10 values are followed as time would be.",
        "--drop COLUMN": 'Leave columns out: a name, several (a,b), or a pattern ("*_mut").',
        "--use COLUMN": "Use a column although it looks like an id, a date or free text.",
        "--missing VALUE": "Numbers or words that stand for no answer, e.g. 99 or -9,99; they "
        "become gaps.",
        "--order WORDS": "Answers from the lowest to the highest, separated by commas, that become "
        "1, 2, ...; repeat it for other scales. Common English ones are known.",
        "--layer NAME": "h5ad: use this layer in place of X.",
        "--use-raw": "h5ad: use raw in place of X, e.g. where X is scaled.",
        "--keep COLUMN": "Carry a column along, e.g. an id; repeat it for more.",
        "--no-header": "The first line of the csv is data, not names.",
        "--image HxW": "Columns are the pixels of images, column by column, e.g. 32x24.",
    },
    "What to look for": {
        "--budget N": "Select this many features; 0.1 or 10% is a share of them.",
        "--explain SHARE": "Select as many features as explain this share of what the related "
        "ones say, e.g. 0.9 or 90%.",
        "--representatives": "Select one feature of each kept group, the most central one.",
        "--groups N": "Look for this many groups; found out if left out.",
        "--significant": "Keep the groups beyond chance that are found again in halves of the "
        "rows: as without any option, also with --sparsity.",
        "--open-gates": "Keep the groups whose gates are open: as with --sparsity.",
        "--sparsity X": "Train gates at this sparsity, and keep the groups they open: 0.25 to 3 "
        "is useful, higher keeps fewer.",
        "--signed": "Keep features that run against each other apart; else they share a group.",
        "--similarity NAME": "How alike features are: correlation (straight lines), rank (bent "
        "lines, outliers), distance or mutual-information (any relation).",
        "--keep-unrelated": "Look for groups among all features, also those that go with no other.",
        "--path": "Train 24 sparsities and take the one with the largest gain.",
        "--checkpoint FOLDER": "With --path: keep the state of training here; if killed, run it "
        "again to go on.",
        "--seed N": "The same seed gives the same result.",
        "--max-memory SIZE": "Memory that may be taken, e.g. 2GB; larger files are read in parts. "
        "Three quarters of what is free if left out.",
        "--device NAME": "cpu, cuda, cuda:1 or mps; auto takes a GPU if there is one.",
    },
    "What comes out": {
        "--out -o FOLDER": "Folder for the results; groupfs-<name of the file> if left out.",
        "--out -o FILE": "csv, csv.gz, tsv, parquet, feather or npy to write; csv on stdout if "
        "left out.",
        "--out -o PAGE": "HTML file to write; report.html beside the result if left out.",
        "--force": "Replace results that exist.",
        "--json": "Print JSON for machines.",
        "--quiet -q": "No progress and no remarks on stderr, only errors.",
    },
}
TABLE_HELP = (
    "csv, tsv (any usual separator), xlsx, sav (SPSS), parquet, feather, npy, npz, mat or h5ad, "
    "also packed (gz, zip); - reads csv from stdin."
)


class SimilarityName(StrEnum):
    """Similarities of features by name."""

    CORRELATION = "correlation"
    RANK = "rank"
    DISTANCE = "distance"
    MUTUAL_INFORMATION = "mutual-information"


def _option(usage: str, **more: Any) -> Any:
    """Build the option of a line of ``HELP``."""
    panel = next(panel for panel, lines in HELP.items() if usage in lines)
    names = [word for word in usage.split() if word.startswith("-")]
    metavar = usage.split()[-1] if len(names) < len(usage.split()) else None
    help_text = HELP[panel][usage]
    return typer.Option(*names, metavar=metavar, help=help_text, rich_help_panel=panel, **more)


Table = Annotated[str, typer.Argument(help=TABLE_HELP)]
Model = Annotated[Path, typer.Argument(help="model.skops of groupfs select.")]
Result = Annotated[Path, typer.Argument(help="result.json of groupfs select.")]

Label = Annotated[str | None, _option("--label COLUMN")]
By = Annotated[str | None, _option("--by COLUMN")]
Drop = Annotated[list[str] | None, _option("--drop COLUMN")]
Use = Annotated[list[str] | None, _option("--use COLUMN")]
Missing = Annotated[list[str] | None, _option("--missing VALUE")]
Order = Annotated[list[str] | None, _option("--order WORDS")]
Layer = Annotated[str | None, _option("--layer NAME")]
UseRaw = Annotated[bool, _option("--use-raw")]
Keep = Annotated[list[str] | None, _option("--keep COLUMN")]
NoHeader = Annotated[bool, _option("--no-header")]
Image = Annotated[str | None, _option("--image HxW")]

Budget = Annotated[str | None, _option("--budget N")]
Explain = Annotated[str | None, _option("--explain SHARE")]
Representatives = Annotated[bool, _option("--representatives")]
Groups = Annotated[int | None, _option("--groups N", min=2)]
Significant = Annotated[bool, _option("--significant")]
OpenGates = Annotated[bool, _option("--open-gates")]
Sparsity = Annotated[float | None, _option("--sparsity X", min=0.01)]
Signed = Annotated[bool, _option("--signed")]
Similarity = Annotated[SimilarityName, _option("--similarity NAME", show_default=False)]
KeepUnrelated = Annotated[bool, _option("--keep-unrelated")]
SparsityPath = Annotated[bool, _option("--path")]
Checkpoint = Annotated[Path | None, _option("--checkpoint FOLDER")]
Seed = Annotated[int, _option("--seed N", min=0)]
MaxMemory = Annotated[str | None, _option("--max-memory SIZE")]
Device = Annotated[str, _option("--device NAME")]

OutFolder = Annotated[Path | None, _option("--out -o FOLDER")]
OutTable = Annotated[Path | None, _option("--out -o FILE")]
OutPage = Annotated[Path | None, _option("--out -o PAGE")]
Force = Annotated[bool, _option("--force")]
AsJson = Annotated[bool, _option("--json")]
Quiet = Annotated[bool, _option("--quiet -q")]


def default_folder(table: str) -> Path:
    """Name the folder for the results of a file after the file."""
    name = "stdin" if table == "-" else Path(table).name
    unpacked = re.sub(r"(?i)\.(gz|zip|bz2|xz)$", "", name)
    return Path(f"groupfs-{Path(unpacked).stem}")


def budget(text: str | None) -> float | None:
    """Read a number of features, or a share of them."""
    if text is None:
        return None
    if re.fullmatch(r"0*[1-9]\d{0,8}", text.strip()):
        return int(text)
    share = _share(text)
    if share is None or share == 1:
        raise typer.BadParameter(
            f"--budget {text}: give a number of features, e.g. 50, or a share below 1, e.g. 0.1."
        )
    return share


def explain(text: str | None) -> float | None:
    """Read the share that is to be explained."""
    share = None if text is None else _share(text)
    if text is not None and share is None:
        raise typer.BadParameter(
            f"--explain {text}: give a share above 0 and at most 1, e.g. 0.9 or 90%."
        )
    return share


def _share(text: str) -> float | None:
    """Read 0.9 or 90%; None if it is no share above 0 and at most 1."""
    found = re.fullmatch(r"(\d*\.?\d+)\s*(%?)", text.strip())
    share = float(found[1]) / (100 if found[2] else 1) if found else 0.0
    return share if 0 < share <= 1 else None


def image_shape(text: str | None) -> tuple[int, int] | None:
    """Read height and width from text such as 32x24."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,9})[xX,](\d{1,9})", text.strip())
    if not found:
        raise typer.BadParameter(f"--image {text}: give height and width in pixels, e.g. 32x24.")
    return int(found[1]), int(found[2])
