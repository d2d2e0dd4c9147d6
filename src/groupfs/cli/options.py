"""The options of the commands: the words that explain them, how they are read, and the request."""

import re
import shlex
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

#: The usage of every option and what the help says of it, by panel.
HELP = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
#: Parameters of the estimator, and the options that set them.
PARAMETERS = {"n_features_to_select": "budget", "n_groups": "groups", "random_state": "seed"}
PARAMETERS |= {"n_per_group": "per_group", "signed": "signed", "similarity": "similarity"}
PARAMETERS |= {name: name for name in ("explain", "keep_unrelated", "device", "max_memory")}
PARAMETERS |= {"level": "level", "n_groups_to_select": "from_groups"}
#: Options that say what columns are.
OF_COLUMNS = ("columns", "drop", "use", "missing", "order")
#: Levels of groups that have a name.
LEVELS = ("auto", "broad", "narrow")
#: Fields that do not bear on the result.
UNTOLD = ("model", "table", "device", "force", "json", "quiet")

SimilarityName = StrEnum("SimilarityName", ["CORRELATION", "RANK", "DISTANCE"])


def read_budget(text: str) -> float:
    """Read a number of features, or a share of them."""
    if re.fullmatch(r"0*[1-9]\d{0,8}", text.strip()):
        return int(text)
    if (share := _read_share(text)) is None or share == 1:
        raise typer.BadParameter(
            f"{text} is no number of features, e.g. 50, nor a share of them below 1, e.g. 0.1."
        )
    return share


def number_or(*words: str) -> Callable[[str], int | str]:
    """Make a function that reads a number of groups, or one of the words."""

    def read(text: str) -> int | str:
        if text not in words and not re.fullmatch(r"[1-9]\d{0,8}", text):
            others = f", nor {' or '.join(words)}" if words else ""
            raise typer.BadParameter(f"{text} is no number of groups, e.g. 5{others}.")
        return text if text in words else int(text)

    return read


def a_share(example: str) -> Callable[[str | float], float]:
    """Make a function that reads a share, the example being one; defaults come as numbers."""

    def read(text: str | float) -> float:
        if (share := _read_share(str(text))) is None:
            raise typer.BadParameter(f"{text} is no share above 0 and at most 1, e.g. {example}.")
        return share

    return read


def _read_share(text: str) -> float | None:
    """Read 0.9 or 90%; None if it is no share above 0 and at most 1."""
    number = re.fullmatch(r"(\d*\.?\d+)\s*(%?)", text.strip())
    share = float(number[1]) / (100 if number[2] else 1) if number else 0.0
    return share if 0 < share <= 1 else None


def option(usage: str, **more: Any) -> Any:
    """Build the option of a line of ``HELP``, e.g. ``--label COLUMN``."""
    panel = next(panel for panel, lines in HELP.items() if usage in lines)
    names = [word for word in usage.split() if word.startswith("-")]
    metavar = usage.split()[-1] if len(names) < len(usage.split()) else None
    help_text = HELP[panel][usage]
    return typer.Option(*names, metavar=metavar, help=help_text, rich_help_panel=panel, **more)


TABLE = typer.Argument(
    help="csv, tsv (any usual separator), xlsx, sav (SPSS), parquet, feather, npy, npz, mat or "
    "h5ad, also packed (gz, zip); - reads csv from stdin."
)
Table = Annotated[str, TABLE]
Keep = Annotated[list[str] | None, option("--keep COLUMN")]
Labels = Annotated[Path | None, option("--labels FILE")]
Direction = Annotated[list[str] | None, option("--direction COLUMN")]
NoHeader = Annotated[bool, option("--no-header")]
OutFolder = Annotated[Path | None, option("--out -o FOLDER")]
OutFile = Annotated[Path | None, option("--out -o FILE")]
Force = Annotated[bool, option("--force")]
Json = Annotated[bool, option("--json")]
Quiet = Annotated[bool, option("--quiet -q")]


@dataclass(frozen=True)
class SelectRequest:
    """What ``groupfs select`` is asked for: every field but the first is the option of its name."""

    table: Annotated[str | None, TABLE]  #: the file, or None for the two moons
    label: Annotated[str | None, option("--label COLUMN")] = None
    by: Annotated[str | None, option("--by COLUMN")] = None
    rows_needed: Annotated[bool, option("--rows-needed")] = False
    columns: Annotated[list[str] | None, option("--columns COLUMN")] = None
    drop: Annotated[list[str] | None, option("--drop COLUMN")] = None
    use: Annotated[list[str] | None, option("--use COLUMN")] = None
    missing: Annotated[list[str] | None, option("--missing VALUE")] = None
    order: Annotated[list[str] | None, option("--order WORDS")] = None
    keep: Keep = None
    labels: Labels = None
    layer: Annotated[str | None, option("--layer NAME")] = None
    use_raw: Annotated[bool, option("--use-raw")] = False
    no_header: NoHeader = False
    level: Annotated[Any, option("--level NAME", parser=number_or(*LEVELS))] = None
    budget: Annotated[float | None, option("--budget N", parser=read_budget)] = None
    explain: Annotated[float | None, option("--explain SHARE", parser=a_share("0.9 or 90%"))] = None
    representatives: Annotated[bool, option("--representatives")] = False
    per_group: Annotated[int | None, option("--per-group N", min=1)] = None
    from_groups: Annotated[Any, option("--from-groups N", parser=number_or("kept"))] = None
    groups: Annotated[int | None, option("--groups N", min=2)] = None
    direction: Direction = None
    signed: Annotated[bool, option("--signed")] = False
    similarity: Annotated[SimilarityName, option("--similarity NAME", show_default=False)] = (
        SimilarityName.CORRELATION
    )
    keep_unrelated: Annotated[bool, option("--keep-unrelated")] = False
    seed: Annotated[int, option("--seed N", min=0)] = 0
    device: Annotated[str, option("--device NAME")] = "auto"
    max_memory: Annotated[str | None, option("--max-memory SIZE")] = None
    scores: Annotated[bool, option("--scores")] = False
    out: OutFolder = None
    force: Force = False
    json: Json = False
    quiet: Quiet = False

    @property
    def folder(self) -> Path:
        """Name the folder for the results, after the file if it was not asked for."""
        if self.out is not None:
            return self.out
        name = "stdin" if self.table == "-" else Path(str(self.table)).name
        return Path(f"groupfs-{Path(re.sub(r'(?i)[.](gz|zip|bz2|xz)$', '', name)).stem}")

    @property
    def reading(self) -> dict[str, Any]:
        """Return how the file is read, as ``read_table`` takes it and a model keeps it."""
        header = False if self.no_header else None
        return {"header": header, "layer": self.layer, "use_raw": self.use_raw}

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the estimator; what was not asked for is left to it."""
        asked_for = {name: getattr(self, field) for name, field in PARAMETERS.items()}
        if self.representatives:
            asked_for["n_per_group"] = 1
        asked_for["similarity"] = str(self.similarity)
        if self.from_groups == "kept":
            asked_for["n_groups_to_select"] = "significant"
        return {name: value for name, value in asked_for.items() if value is not None}


@dataclass(frozen=True)
class ApplyRequest:
    """What ``groupfs apply`` is asked for, field by field as above."""

    model: Annotated[Path, typer.Argument(help="model.skops of groupfs select.")]
    table: Table
    keep: Keep = None
    labels: Labels = None
    no_header: NoHeader = False
    out: OutFile = None
    force: Force = False
    quiet: Quiet = False


@dataclass(frozen=True)
class ScoresRequest:
    """What ``groupfs scores`` is asked for."""

    model: Annotated[Path, typer.Argument(help="model.skops of groupfs select, or its folder.")]
    table: Table
    keep: Keep = None
    level: Annotated[Any, option("--level NAME", parser=number_or(*LEVELS, "all"))] = None
    direction: Direction = None
    least: Annotated[float, option("--least SHARE", parser=a_share("0.5 or 50%"))] = 0.5
    labels: Labels = None
    no_header: NoHeader = False
    out: OutFile = None
    force: Force = False
    quiet: Quiet = False


@dataclass(frozen=True)
class CheckRequest:
    """What ``groupfs check`` is asked for."""

    model: Annotated[Path, typer.Argument(help="model.skops of groupfs select, or its folder.")]
    table: Table
    labels: Labels = None
    no_header: NoHeader = False
    out: Annotated[Path | None, option("-o --out FOLDER")] = None
    force: Force = False
    quiet: Quiet = False


@dataclass(frozen=True)
class PageRequest:
    """What ``groupfs app`` is asked for."""

    port: Annotated[int, option("--port N", min=0, max=65535)] = 0


def command_line(request: Any, source: str) -> str:
    """Write the command that does the same to the same file, or to the two moons."""
    if request.table is None:
        return shlex.join(["groupfs", "demo", "--out", str(request.folder)])
    words = ["groupfs", type(request).__name__.removesuffix("Request").lower()]
    words += [str(request.model)] if hasattr(request, "model") else []
    words.append("-" if request.table == "-" else source)
    for field in fields(request):
        value = getattr(request, field.name)
        if field.name in UNTOLD or value == field.default:
            continue
        for each in value if isinstance(value, list) else [value]:
            words.append(f"--{field.name.replace('_', '-')}")
            words += [] if each is True else [str(each)]
    return shlex.join(words)
