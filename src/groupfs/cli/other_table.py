"""Another table for a model: reading both, telling its columns, and writing what comes out."""

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from groupfs import persistence
from groupfs.cli.result_folder import OutputError, check_target, write_file
from groupfs.files import FileTable, read_table
from groupfs.files.codebook import read_codebook
from groupfs.files.columns import ColumnsError, Preparation, numeric_columns
from groupfs.files.file_content import find_content
from groupfs.files.file_table import numbered

#: Endings of files that can be written, and the extras that bring what writes some of them.
ENDINGS = (".csv", ".csv.gz", ".tsv", ".parquet", ".xlsx", ".sav")
EXTRAS = {".xlsx": "excel", ".sav": "spss"}
#: Names of variables in SPSS: letters it takes, their number, and words that it keeps for itself.
NO_NAME, LONGEST = re.compile(r"[^A-Za-z0-9_.@#$]"), 64
RESERVED = {"ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"}
#: Rows and columns of a sheet, at most.
SHEET = 1_048_575, 16_384


def open_model(path: Path) -> tuple[Any, Preparation]:
    """Read a model, or that of a folder of results, and what it was made from."""
    selector, preparation = persistence.load_model(path / "model.skops" if path.is_dir() else path)
    names = getattr(selector, "feature_names_in_", numbered(selector.n_features_in_))
    preparation = preparation or numeric_columns(names)
    selector.feature_names_in_ = np.array(preparation.names, dtype=object)  # also of sparse tables
    return selector, preparation


def read_other(
    path: str, preparation: Preparation, header: bool | None, labels: Path | None
) -> FileTable:
    """Read another table as the first one was read, renamed by a codebook if there is one."""
    is_h5ad = find_content(path).format == "h5ad"  # another file may be csv
    header = preparation.header if header is None else header
    layer, use_raw = (preparation.layer, preparation.use_raw) if is_h5ad else (None, False)
    table = read_table(path, header=header, layer=layer, use_raw=use_raw)
    expected = len(preparation.columns)
    if not table.named and len(table.names) != expected:
        raise ColumnsError(
            f"{table.source} has {len(table.names)} columns without names, but the model was made "
            f"from {expected}, so their places do not tell which is which."
        )
    renamed = {} if labels is None else read_codebook(labels, table.names).renamed
    if renamed and table.is_frame:
        names = [renamed.get(name, name) for name in table.names]
        table = replace(table, names=names, values=table.values.set_axis(names, axis=1))
    return table


def check_ending(out: Path | None, force: bool, what: str) -> None:
    """Refuse, before any work, a file that cannot be written in the end."""
    if out is None:
        return
    check_target(out, force, is_folder=False)
    if not out.name.lower().endswith(ENDINGS):
        raise OutputError(
            f"--out {out}: {what} is written as {', '.join(e[1:] for e in ENDINGS)}; choose one of "
            "these endings."
        )


def write_table(frame: Any, out: Path | None, labels: Mapping[str, str] | None = None) -> list[str]:
    """Write a table to a file as its ending says, or as csv to standard output.

    ``labels`` are wordings of columns, which sav files hold. Returns notes on what had to change.
    """
    if out is None:
        # the bytes that a file would get, whatever the terminal's encoding
        frame.to_csv(sys.stdout.buffer, index=False)
        return []
    notes: list[str] = []
    write_file(out, lambda aside: notes.extend(write_as(frame, aside, labels or {})))
    return notes


def write_as(frame: Any, path: Path, labels: Mapping[str, str]) -> list[str]:
    """Write a table to a path as its ending says; pandas packs by .gz."""
    ending = path.suffix.lower()
    try:
        if ending == ".parquet":
            frame.to_parquet(path, index=False)
        elif ending == ".xlsx":
            if any(n > most for n, most in zip(frame.shape, SHEET, strict=True)):
                raise OutputError(
                    f"{frame.shape[0]} rows and {frame.shape[1]} columns do not fit on a sheet; "
                    "write csv or parquet."
                )
            frame.to_excel(path, index=False)
        elif ending == ".sav":
            return _write_spss(frame, path, labels)
        else:
            frame.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
    except ImportError as reason:
        raise ImportError(
            f"Writing {ending[1:]} needs {str(reason.name).partition('.')[0]}; install it with pip "
            f'install "groupfs[{EXTRAS.get(ending, "cli")}]".'
        ) from reason
    return []


def _write_spss(frame: Any, path: Path, labels: Mapping[str, str]) -> list[str]:
    """Write variables under names that SPSS takes; what they were called becomes their label."""
    import pyreadstat

    names: list[str] = []
    for name in map(str, frame.columns):
        plain = NO_NAME.sub("_", name)
        plain = plain if re.match("[A-Za-z]", plain) else f"v_{plain}"
        plain = f"{plain}_" if plain.upper() in RESERVED else plain[:LONGEST].rstrip(".")
        taken, n = {other.lower() for other in names}, 2
        unique = plain
        while unique.lower() in taken:
            unique, n = f"{plain[: LONGEST - 4]}_{n}", n + 1
        names.append(unique)
    pairs = list(zip(names, map(str, frame.columns), strict=True))
    told: dict[str, str | None]
    told = {new: labels.get(old) or (old if new != old else None) for new, old in pairs}
    plain_frame = frame.set_axis(names, axis=1)
    for name in names:  # SPSS has numbers, dates and text
        if plain_frame[name].dtype.kind not in "biufM":
            numbers = plain_frame[name].convert_dtypes()
            is_text = numbers.dtype.kind not in "biufM"
            text = numbers.astype(object).map(str, na_action="ignore")
            plain_frame[name] = text if is_text else numbers.astype(float)
    pyreadstat.write_sav(plain_frame, str(path), column_labels=told)
    changed = [f"{old} ({new})" for new, old in pairs if new != old]
    if not changed:
        return []
    return [f"SPSS takes other names for {', '.join(changed[:8])}{', ...' if changed[8:] else ''}."]
