"""What ``groupfs select`` is asked for, and the command line that asks for it again."""

import functools
import inspect
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from groupfs.cli import options
from groupfs.cli.options import SimilarityName, option, read_budget, read_explain

#: Fields that do not bear on the result.
UNTOLD = ("table", "device", "force", "json", "quiet")


@dataclass(frozen=True)
class SelectRequest:
    """What ``groupfs select`` is asked for: every field but the first is the option of its name."""

    table: Annotated[str | None, options.TABLE]  #: the file, or None for the two moons
    label: Annotated[str | None, option("--label COLUMN")] = None
    by: Annotated[str | None, option("--by COLUMN")] = None
    drop: Annotated[list[str] | None, option("--drop COLUMN")] = None
    use: Annotated[list[str] | None, option("--use COLUMN")] = None
    missing: Annotated[list[str] | None, option("--missing VALUE")] = None
    order: Annotated[list[str] | None, option("--order WORDS")] = None
    layer: Annotated[str | None, option("--layer NAME")] = None
    use_raw: Annotated[bool, option("--use-raw")] = False
    no_header: options.NoHeader = False
    budget: Annotated[float | None, option("--budget N", parser=read_budget)] = None
    explain: Annotated[float | None, option("--explain SHARE", parser=read_explain)] = None
    representatives: Annotated[bool, option("--representatives")] = False
    groups: Annotated[int | None, option("--groups N", min=2)] = None
    signed: Annotated[bool, option("--signed")] = False
    similarity: Annotated[SimilarityName, option("--similarity NAME", show_default=False)] = (
        SimilarityName.CORRELATION
    )
    keep_unrelated: Annotated[bool, option("--keep-unrelated")] = False
    seed: Annotated[int, option("--seed N", min=0)] = 0
    device: Annotated[str, option("--device NAME")] = "auto"
    max_memory: Annotated[str | None, option("--max-memory SIZE")] = None
    out: options.OutFolder = None
    force: options.Force = False
    json: options.Json = False
    quiet: options.Quiet = False

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
    def columns(self) -> dict[str, Any]:
        """Return what was said of columns, as ``decide_columns`` takes it."""
        return {name: getattr(self, name) for name in ("drop", "use", "missing", "order")}

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the estimator; what was not asked for is left to it."""
        asked_for = {
            "n_features_to_select": self.budget,
            "explain": self.explain,
            "n_groups": self.groups,
            "output": "representatives" if self.representatives else None,
            "signed": self.signed or None,
            "similarity": str(self.similarity),
            "keep_unrelated": self.keep_unrelated or None,
            "random_state": self.seed,
            "device": self.device,
            "max_memory": self.max_memory,
        }
        return {name: value for name, value in asked_for.items() if value is not None}


def takes_request(command: Callable[[SelectRequest], None]) -> Callable[..., None]:
    """Have typer read the fields of a request as the options of a command."""

    @functools.wraps(command)
    def from_options(**given: Any) -> None:
        command(SelectRequest(**given))

    from_options.__signature__ = inspect.signature(SelectRequest)  # type: ignore[attr-defined]
    return from_options


def command_line(request: SelectRequest, source: str) -> str:
    """Write the command that selects the same from the same file, or from the two moons."""
    if request.table is None:
        return shlex.join(["groupfs", "demo", "--out", str(request.folder)])
    words = ["groupfs", "select", "-" if request.table == "-" else source]
    for field in fields(request):
        value = getattr(request, field.name)
        if field.name in UNTOLD or value == field.default:
            continue
        for each in value if isinstance(value, list) else [value]:
            words.append(f"--{field.name.replace('_', '-')}")
            words += [] if each is True else [str(each)]
    return shlex.join(words)
