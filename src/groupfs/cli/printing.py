"""Tables and sentences for people, within 80 columns, and the same as JSON for machines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from groupfs.cli.select import FILES, Outcome

#: Groups that are shown; the others are in groups.csv.
MOST_GROUPS = 20
#: Wide terminals do not make a wide table easier to read.
WIDEST = 110


def show_outcome(outcome: Outcome, console: Console) -> None:
    """What was found, group by group, and where the results are."""
    summary = outcome.summary
    console.print()
    for sentence in summary["sentences"]:
        console.print(escape(sentence))
    console.print()
    console.print(_groups_table(summary))
    hidden = len(summary["groups"]) - MOST_GROUPS
    if hidden > 0:
        console.print(f"... and {hidden} more group{'' if hidden == 1 else 's'} in groups.csv")
    if hint := closed_sentence(summary):
        console.print(hint)
    agreement = summary.get("agreement")
    if agreement:
        console.print(escape(agreement_sentence(agreement)))
    out = escape(str(outcome.out))
    console.print(f"\nWritten in {outcome.seconds:.0f} s: {out}/", soft_wrap=True)
    console.print("  " + ", ".join(FILES))
    console.print(f"Open {escape(str(outcome.out / 'report.html'))} in a browser.", soft_wrap=True)
    model = escape(str(outcome.out / "model.skops"))
    console.print(f"The selected columns of a table: groupfs apply {model} TABLE", soft_wrap=True)


def closed_sentence(summary: dict[str, Any]) -> str | None:
    """What to do where the model closed groups that stand out, if it did."""
    settings = summary["settings"]
    if settings["n_features_to_select"] is not None or settings["n_groups_to_select"] is not None:
        return None
    ranks = [str(g["rank"]) for g in summary["groups"] if g["stands_out"] and not g["kept"]]
    if not ranks:
        return None
    which = f"Group {ranks[0]} stands" if len(ranks) == 1 else f"Groups {', '.join(ranks)} stand"
    return f"{which} out from chance too, with closed gates: --significant keeps all of these."


def agreement_sentence(agreement: dict[str, Any]) -> str:
    """How k-means clusters meet the labels, before and after."""
    return (
        f"Agreement of k-means with {agreement['name']} ({agreement['n_classes']} classes, "
        f"{agreement['n_samples']:,} samples): "
        f"accuracy {agreement['accuracy_all']:.3f} on all features, "
        f"{agreement['accuracy_selected']:.3f} on the selected ones; adjusted Rand index "
        f"{agreement['adjusted_rand_all']:.3f} and {agreement['adjusted_rand_selected']:.3f}."
    )


def outcome_as_json(outcome: Outcome) -> str:
    """The selection and the groups; everything else is in result.json."""
    summary = outcome.summary
    names = summary["features"]["name"]
    shown = ("rank", "name", "size", "score", "p_value", "gate", "kept")
    return json.dumps(
        {
            "source": summary["table"]["source"],
            "n_samples": summary["table"]["n_samples"],
            "n_features": summary["table"]["n_features"],
            "selected": [n for n, k in zip(names, summary["features"]["kept"], strict=True) if k],
            "groups": [
                {
                    **{key: group[key] for key in shown},
                    "representative": group["representative_name"],
                    "features": [names[place] for place in group["features"]],
                }
                for group in summary["groups"]
            ],
            "agreement": summary.get("agreement"),
            "notes": summary["table"]["notes"],
            "out": str(outcome.out),
            "files": list(FILES),
            "seconds": round(outcome.seconds, 2),
        },
        allow_nan=False,
        indent=2,
    )


def show_datasets(found: dict[str, Any], console: Console) -> None:
    """The tables, whether they are at hand, and what they are."""
    rows = []
    for record in found["datasets"]:
        absent = "download" if record["downloadable"] else "by hand"
        what = record["description"].split(" (")[0].split(", as ")[0]
        rows.append((record["name"], "yes" if record["at_hand"] else absent, what))
    console.print(_plain_table(("name", "at hand", "what it is"), rows))
    console.print(f"\nLooked in {escape(found['folder'])}.", soft_wrap=True)
    console.print("download: fetch_dataset gets it when asked; by hand: --json says from where.")


def show_doctor(found: dict[str, Any], console: Console) -> None:
    """Versions and device, then the extras."""
    device = found["device"]
    rows = [(name, found[name]) for name in ("groupfs", "python", "system")]
    rows += found["packages"].items()
    rows.append(("device", f"{device['used']} ({device['name']}, {device['threads']} threads)"))
    rows.append(("data folder", found["data_folder"]))
    console.print(_plain_table(("", ""), rows, headed=False))
    console.print()
    extras = []
    for extra, packages in found["extras"].items():
        absent = [name for name, version in packages.items() if version is None]
        there = ", ".join(f"{name} {version}" for name, version in packages.items() if version)
        missing = f'without {", ".join(absent)}: pip install "groupfs[{extra}]"'
        extras.append((extra, "no" if absent else "yes", missing if absent else there))
    console.print(_plain_table(("extra", "installed", "packages"), extras))


def _plain_table(
    headings: Sequence[str], rows: Sequence[Sequence[Any]], headed: bool = True
) -> Table:
    """Rows of text; the last column takes the room that is left."""
    table = Table(box=None, pad_edge=False, header_style="bold", show_header=headed)
    for place, heading in enumerate(headings):
        table.add_column(heading, no_wrap=place < len(headings) - 1, overflow="fold")
    for row in rows:
        table.add_row(*(escape(str(cell)) for cell in row))
    return table


def _groups_table(summary: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    for heading in ("group", "kept", "features", "score", "p-value", "gate"):
        table.add_column(heading, justify="right", no_wrap=True)
    # the names take the room that is left, however many there are
    table.add_column("most central first", no_wrap=True, overflow="ellipsis", ratio=1)
    features = summary["features"]
    for group in summary["groups"][:MOST_GROUPS]:
        members = sorted(group["features"], key=lambda place: features["rank"][place] or 0)
        size = group["size"]
        cut = group["kept"] and group["n_kept"] < size
        table.add_row(
            str(group["name"]).removeprefix("group "),
            "yes" if group["kept"] else "no",
            f"{group['n_kept']} of {size}" if cut else str(size),
            f"{group['score']:.3f}",
            _p_value(group["p_value"]),
            "open" if group["open"] else "closed",
            Text(", ".join(features["name"][place] for place in members[:30])),
            style="bold" if group["kept"] else "dim",
        )
    return table


def _p_value(p_value: float | None) -> str:
    if p_value is None:
        return "-"
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"
