"""What is filled in on the page, and the request of the command line that it is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from groupfs.cli.options import LEVELS, SelectRequest, number_or

#: What may be done with a column, by the option that it is.
ROLES = {"drop": "leave out", "use": "use all the same", "keep": "carry along"}
ROLES |= {"by": "compare groups by it", "label": "known classes"}
#: Fields with an entry on each line, and boxes to tick.
LISTS = ("missing", "order", "drop", "columns", "direction")
BOXES = ("signed", "no_header", "use_raw")


def in_order(words: Sequence[str], steps: Sequence[str]) -> str:
    """Write words that were numbered as ``--order`` takes them; those without a number are left."""
    by_step: dict[int, list[str]] = {}
    for word, step in zip(words, steps, strict=True):
        if step.strip().isdecimal():
            by_step.setdefault(int(step), []).append(word)
    mark = ";" if "," in "".join(words) else ","
    return mark.join("|".join(by_step[step]) for step in sorted(by_step))


class Refused(ValueError):
    """What the page cannot do; the message is one sentence."""


@dataclass(frozen=True)
class Form:
    """Texts of fields by name, roles of columns, and a table of their wording."""

    texts: dict[str, str] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    codebook: Path | None = None

    def request(self, table: str, roles: Sequence[str] = tuple(ROLES)) -> SelectRequest:
        """Return what ``groupfs select`` would be asked for, of the roles those named alone."""
        lines = {name: self.texts.get(name, "").splitlines() for name in LISTS}
        given: dict[str, Any] = {n: [*filter(None, map(str.strip, of))] for n, of in lines.items()}
        for role in roles:
            given[role] = given.get(role, []) + [n for n, of in self.roles.items() if of == role]
        for role in {"by", "label"}.intersection(roles):
            if len(names := given.pop(role)) > 1:
                both = f"{names[0]} and {names[1]} are both there to “{ROLES[role]}”"
                raise Refused(f"{both}; choose one of them.")
            given[role] = "".join(names)
        given |= {name: bool(self.texts.get(name)) for name in BOXES}
        selected, level = self.texts.get("select"), self.texts.get("level")
        try:
            given["level"] = level and number_or(*LEVELS)(level)
        except typer.BadParameter as reason:
            raise Refused(reason.message) from reason
        each = self.texts.get("per_group", "3").strip()
        if selected == "each" and not (each.isdecimal() and int(each)):
            raise Refused(f"{each or 'Nothing'} is no number of columns for each group, e.g. 3.")
        given["per_group"] = int(each) if selected == "each" else None
        given["from_groups"] = "kept" if selected == "kept" else None
        given = {name: value for name, value in given.items() if value}
        return SelectRequest(table, scores=True, labels=self.codebook, **given)
