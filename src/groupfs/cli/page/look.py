"""What the columns of a file were taken for, to be seen and corrected before anything is fitted."""

import contextlib
import re
import shlex
from typing import Any

from groupfs.cli.errors import translate
from groupfs.cli.options import OF_COLUMNS, SelectRequest
from groupfs.cli.prepare import read_file
from groupfs.files.answers import FEWEST_SHARING, shared_answers
from groupfs.files.codebook import read_wording
from groupfs.files.columns import decide_columns, numeric_columns
from groupfs.files.ids import is_named_id

#: Columns that are shown one by one, values that each shows, how long, from so many rows.
MOST_COLUMNS, MOST_VALUES, LONGEST, LOOKED_AT = 400, 6, 24, 2000
#: A code for no answer that a remark proposes; names in the remark may have quotes, too.
CODE = re.compile(r"""--missing ((?:'[^']*'|"[^"]*"|[^\s'"])+)""")


def look(request: SelectRequest) -> dict[str, Any]:
    """Return how the columns of a file would be read, and what deserves a second look."""
    table, gaps = read_file(request), dict[str, int]()
    asked = {name: getattr(request, name) for name in OF_COLUMNS}
    if table.is_frame:
        preparation = decide_columns(table.values, **asked)
        gaps = preparation.apply(table.values)[0].isna().sum().to_dict()
    else:
        preparation = numeric_columns(table.names, drop=asked["drop"], columns=asked["columns"])
    wording, notes = table.labels, [*table.notes]
    if request.labels is not None:
        own, told = read_wording(request.labels, table.names)
        wording, notes = wording | own, [*notes, told]
    notes += [note for note in preparation.notes if note not in preparation.advice]
    shown = preparation.columns[:MOST_COLUMNS]
    values, columns = table.frame([of.name for of in shown]), list[dict[str, Any]]()
    for of in shown:
        columns.append(_row(of.name, values[of.name], of.kind, of.why))
        columns[-1]["steps"] = [step.partition("|")[0] for step in of.values]
        columns[-1]["n_gaps"] = gaps.get(of.name, columns[-1]["n_gaps"])
    if table.row_metadata is not None:  # such as that of cells
        beside = table.row_metadata.items()
        columns += [_row(str(name), of, "ignored", "beside") for name, of in beside]
    categories = {of.name: of.values for of in preparation.columns if of.kind == "category"}
    words, n_sharing = shared_answers(categories)
    return {
        "n_rows": table.n_rows,
        "n_columns": len(table.names),
        "n_used": len(preparation.names),
        "n_shown": len(shown),
        "columns": [of | {"wording": wording.get(of["name"], "")} for of in columns],
        "words": words if n_sharing >= FEWEST_SHARING else (),
        "notes": [*map(translate, notes)],
        "advice": [
            (text, shlex.split(" ".join(CODE.findall(text))))
            for text in map(translate, preparation.advice)
        ],
    }


def _row(name: str, values: Any, kind: str, why: str) -> dict[str, Any]:
    present = values.dropna()
    seen = [f"{v:g}" if isinstance(v, float) else str(v) for v in present.head(LOOKED_AT)]
    seen = list(dict.fromkeys(seen))
    differ = len(seen) == min(len(present), LOOKED_AT) > MOST_VALUES
    differ = differ and not any("." in text or len(text) > LONGEST for text in seen)
    with contextlib.suppress(ValueError):  # numbers in their order
        seen = sorted(seen, key=float) if len(seen) <= MOST_VALUES else seen
    first = [text if len(text) <= LONGEST else f"{text[:LONGEST]}…" for text in seen[:MOST_VALUES]]
    is_id = why in ("id", "about") and (differ or is_named_id(name, len(present)))
    return {
        "name": name,
        "kind": kind,
        "why": why,
        "seen": ", ".join([*first, *["..."] * (len(seen) > MOST_VALUES)]),
        "n_gaps": len(values) - len(present),
        "all_differ": differ,
        "is_id": is_id,
    }
