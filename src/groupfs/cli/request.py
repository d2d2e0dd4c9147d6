"""What was asked for on the command line, and the command line that asks for it."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groupfs.cli.errors import OPTIONS
from groupfs.cli.options import default_folder


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line."""

    out: Path
    force: bool = False
    label: str | None = None
    by: str | None = None  #: column that groups are compared by
    drop: Sequence[str] = ()
    use: Sequence[str] = ()
    missing: Sequence[str] = ()
    order: Sequence[str] = ()
    layer: str | None = None  #: of an h5ad file
    use_raw: bool = False  #: of an h5ad file
    header: bool | None = None
    image_shape: tuple[int, int] | None = None
    along_path: bool = False  #: whether a path of sparsities is trained
    settings: dict[str, Any] = field(default_factory=dict)  #: of the estimator


def command_line(source: str, request: Request) -> str:
    """Write the command that selects the same from the same file."""
    source = "-" if source == "standard input" else source
    words = ["groupfs", "select", source]
    words += ["--label", request.label] if request.label is not None else []
    words += ["--by", request.by] if request.by is not None else []
    words += [word for name in request.drop for word in ("--drop", name)]
    words += [word for name in request.use for word in ("--use", name)]
    words += [word for code in request.missing for word in ("--missing", code)]
    words += [word for order in request.order for word in ("--order", order)]
    words += ["--layer", request.layer] if request.layer is not None else []
    words += ["--use-raw"] if request.use_raw else []
    words += ["--no-header"] if request.header is False else []
    words += ["--image", "x".join(map(str, request.image_shape))] if request.image_shape else []
    words += ["--path"] if request.along_path else []
    rule = request.settings.get("n_groups_to_select")
    words += {"significant": ["--significant"], "open": ["--open-gates"], None: []}[rule]
    words += ["--representatives"] if request.settings.get("output") == "representatives" else []
    similarity = request.settings.get("similarity", "correlation")
    if similarity != "correlation":
        words += [OPTIONS["similarity"], similarity.replace("_", "-")]
    flags = [name for name in ("signed", "keep_unrelated") if request.settings.get(name)]
    words += [OPTIONS[name] for name in flags]
    numbers = ("n_features_to_select", "explain", "n_groups", "sparsity", "random_state")
    for name in (*numbers, "max_memory"):
        if request.settings.get(name) is not None:
            words += [OPTIONS[name], str(request.settings[name])]
    words += ["-o", str(request.out)] if request.out != default_folder(source) else []
    return shlex.join(words)
