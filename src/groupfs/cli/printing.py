"""Print tables and sentences for people, within 80 columns, and JSON for machines."""

import json
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from groupfs.cli.result_folder import files_of
from groupfs.utils.text import write_share

#: Groups that are printed; the others are in groups.csv.
MOST_GROUPS = 20
#: Wide terminals do not make a wide table easier to read.
WIDEST = 110


class PlainConsole(Console):
    """Print names as they are, and leave readers that stop early to ``errors``."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(highlight=False, emoji=False, markup=False, **settings)
        self.width = min(self.width, WIDEST)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def progress_and_notes(quiet: bool) -> tuple[Callable[[str], None], Callable[[str], None]]:
    """Return functions that print a step, and a note on what was done, to stderr."""
    console = PlainConsole(stderr=True, quiet=quiet)

    return (
        lambda text: console.print(text, style="bold", soft_wrap=True),
        lambda text: console.print(f"- {text}"),
    )


def print_record(
    record: dict[str, Any], as_json: bool, print_plain: Callable[[dict[str, Any], Console], None]
) -> None:
    """Print a record as JSON, or by a function of it and the console."""
    if as_json:
        typer.echo(json.dumps(record, allow_nan=False, indent=2))
    else:
        print_plain(record, PlainConsole())


def print_outcome(summary: dict[str, Any], out: Path, seconds: float, as_json: bool) -> None:
    """Print the groups, the selection and where the results are."""
    if as_json:
        record = _record(summary)
        record |= {"out": str(out), "files": files_of(summary), "seconds": round(seconds, 2)}
        typer.echo(json.dumps(record, allow_nan=False, indent=2))
        return
    console = PlainConsole()
    console.print("", *summary["sentences"], sep="\n")
    if summary["groups"]:
        _print_groups(console, summary)
    if summary["settings"].get("output") == "representatives":
        first = [group["representative_name"] for group in summary["groups"] if group["kept"]]
        console.print(f"One feature of each kept group: {', '.join(first)}.")
    if hint := closed_gates_hint(summary):
        console.print(hint)
    if agreement := summary.get("agreement"):
        console.print(_agreement_sentence(agreement))
    if conditions := summary.get("conditions"):
        console.print(conditions["sentence"])
    for line in (
        f"\nWritten in {seconds:.0f} s: {out}/",
        f"  {', '.join(files_of(summary))}",
        f"Open {out / 'report.html'} in a browser.",
    ):
        console.print(line, soft_wrap=True)  # paths stay in one piece
    if summary["selection"]["n_features"]:
        source = summary["table"]["source"]
        words = ["groupfs", "apply", str(out / "model.skops"), source, "-o", "selected-columns.csv"]
        console.print(f"The selected columns themselves: {shlex.join(words)}", soft_wrap=True)


def closed_gates_hint(summary: dict[str, Any]) -> str | None:
    """Say which groups stand out but were closed by the model, and how to keep them."""
    asked_for = summary["selection"]["budget"] is not None
    if asked_for or summary["selection"]["rule"] != "open":
        return None
    ranks = [str(g["rank"]) for g in summary["groups"] if g["stands_out"] and not g["kept"]]
    if not ranks:
        return None
    which = f"Group {ranks[0]} stands" if len(ranks) == 1 else f"Groups {', '.join(ranks)} stand"
    return f"{which} out from chance too, with closed gates: --significant keeps all of these."


def _agreement_sentence(agreement: dict[str, Any]) -> str:
    return (
        f"Agreement of k-means with {agreement['name']} ({agreement['n_classes']} classes, "
        f"{agreement['n_samples']:,} samples): "
        f"accuracy {agreement['accuracy_all']:.3f} on all features, "
        f"{agreement['accuracy_selected']:.3f} on the selected ones; adjusted Rand index "
        f"{agreement['adjusted_rand_all']:.3f} and {agreement['adjusted_rand_selected']:.3f}."
    )


def _record(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the selection and the groups for machines; everything else is in result.json."""
    names = summary["features"]["name"]
    signs = summary["features"]["sign"]
    curve = summary["explained"]
    n_first = curve["n_selected"]
    copied = ("rank", "name", "size", "score", "p_adjusted", "reliability", "gate", "kept")
    return {
        "source": summary["table"]["source"],
        "n_samples": summary["table"]["n_samples"],
        "n_features": summary["table"]["n_features"],
        "selected": _selected(summary),
        "explained": {
            **{key: curve[key] for key in ("sentence", "n_related", "n_enough")},
            "share": n_first and curve["share"][n_first - 1],
        },
        "groups": [
            {
                **{key: group[key] for key in copied},
                "representative": group["representative_name"],
                "features": [names[index] for index in group["features"]],
                "reversed": [names[index] for index in group["features"] if signs[index] < 0],
            }
            for group in summary["groups"]
        ],
        "in_no_group": summary["table"]["in_no_group"],
        "agreement": summary.get("agreement"),
        "conditions": summary.get("conditions"),
        "notes": summary["table"]["notes"],
    }


def _selected(summary: dict[str, Any]) -> list[str]:
    """Return the names of the selected features."""
    features = summary["features"]
    return [name for name, kept in zip(features["name"], features["kept"], strict=True) if kept]


def print_datasets(record: dict[str, Any], console: Console) -> None:
    """Print the tables, whether they are at hand, and what they are."""
    rows = []
    for dataset in record["datasets"]:
        absent = "download" if dataset["downloadable"] else "by hand"
        what = dataset["description"].split(" (")[0].split(", as ")[0]
        rows.append((dataset["name"], "yes" if dataset["at_hand"] else absent, what))
    console.print(_plain_table(rows, "name", "at hand", "what it is"))
    console.print(f"\nLooked in {record['folder']}.", soft_wrap=True)
    console.print("download: fetch_dataset gets it when asked; by hand: --json says from where.")


def print_doctor(record: dict[str, Any], console: Console) -> None:
    """Print versions and device, then the extras."""
    device = record["device"]
    rows = [(name, record[name]) for name in ("groupfs", "python", "system")]
    rows += record["packages"].items()
    rows.append(("device", f"{device['used']} ({device['name']}, {device['threads']} threads)"))
    rows.append(("data folder", record["data_folder"]))
    console.print(_plain_table(rows, "", ""), "")
    extras = []
    for extra, packages in record["extras"].items():
        absent = [name for name, version in packages.items() if version is None]
        present = ", ".join(f"{name} {version}" for name, version in packages.items() if version)
        missing = f'without {", ".join(absent)}: pip install "groupfs[{extra}]"'
        extras.append((extra, "no" if absent else "yes", missing if absent else present))
    console.print(_plain_table(extras, "extra", "installed", "packages"))


def _plain_table(rows: Iterable[Iterable[Any]], *headings: str) -> Table:
    """Lay out rows of text; the last column takes the room that is left."""
    table = Table(box=None, pad_edge=False, header_style="bold", show_header=any(headings))
    for heading in headings:
        table.add_column(heading, no_wrap=heading != headings[-1], overflow="fold")
    for row in rows:
        table.add_row(*map(str, row))
    return table


def _print_groups(console: Console, summary: dict[str, Any]) -> None:
    shown, signs = summary["groups"][:MOST_GROUPS], summary["features"]["sign"]
    console.print("", _groups_table(summary), sep="\n")
    hidden = len(summary["groups"]) - len(shown)
    if hidden > 0:
        console.print(f"... and {hidden} more group{'' if hidden == 1 else 's'} in groups.csv")
    if any(signs[index] < 0 for group in shown for index in group["features"]):
        console.print("-name: the feature runs against the first one of its group.")
    if any(group["reliability"] is not None for group in shown):
        console.print(
            "reliability: how well the group is found again in halves of the rows; score: how "
            "smoothly the rows vary along it, which groups are ordered by."
        )


def _groups_table(summary: dict[str, Any]) -> Table:
    """Lay out the groups; gates have a column where they decide, reliability where it is known."""
    gates = summary["selection"]["rule"] == "open"
    reliability = any(group["reliability"] is not None for group in summary["groups"])
    headings = ["group", "kept", "size", "score", "adj. p"]
    headings += ["reliability"] * reliability + ["gate"] * gates
    table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    # the names take the room that is left, however many there are
    table.add_column("most central first", no_wrap=True, overflow="ellipsis", ratio=1)
    features = summary["features"]
    for group in summary["groups"][:MOST_GROUPS]:
        members = sorted(group["features"], key=lambda index: features["rank"][index] or 0)
        size, p_adjusted = group["size"], group["p_adjusted"]
        cut = group["kept"] and group["n_kept"] < size
        cells = [
            str(group["name"]).removeprefix("group "),
            "yes" if group["kept"] else "no",
            f"{group['n_kept']} of {size}" if cut else str(size),
            f"{group['score']:.3f}",
            "-" if p_adjusted is None else "< 0.001" if p_adjusted < 0.001 else f"{p_adjusted:.3f}",
        ]
        cells += [write_share(group["reliability"])] if reliability else []
        cells += ["open" if group["open"] else "closed"] if gates else []
        names = ["-" * (features["sign"][i] < 0) + features["name"][i] for i in members[:30]]
        table.add_row(*cells, ", ".join(names), style="bold" if group["kept"] else "dim")
    return table
