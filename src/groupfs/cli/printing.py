"""Print tables and sentences for people, within 80 columns, and JSON for machines."""

import json
import shlex
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from groupfs.cli.options import SelectRequest
from groupfs.cli.result_folder import Say, files_of
from groupfs.sentences import ALPHA, REPLICATION, short_forms
from groupfs.utils.text import count, write_p

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


def progress_and_notes(quiet: bool) -> tuple[Say, Say]:
    """Return functions that print a step, and notes on what was done, to stderr."""
    console = PlainConsole(stderr=True, quiet=quiet)

    def note(*sentences: str) -> None:
        for sentence in sentences:
            console.print(f"- {sentence}")

    return lambda text: console.print(text, style="bold", soft_wrap=True), note


def print_outcome(summary: dict[str, Any], request: SelectRequest, seconds: float) -> None:
    """Print the groups, the selection and where the results are."""
    has_scores = request.scores and any(group["kept"] for group in summary["groups"])
    out, files = request.folder, files_of(summary, has_scores)
    if request.json:
        record = _record(summary)
        record |= {"out": str(out), "files": files, "seconds": round(seconds, 2)}
        typer.echo(json.dumps(record, allow_nan=False, indent=2))
        return
    console = PlainConsole()
    console.print("", *_sentences(summary), sep="\n")
    if summary["groups"]:
        _print_groups(console, summary)
    if summary["settings"].get("n_per_group") == 1:
        first = [group["representative_name"] for group in summary["groups"] if group["n_selected"]]
        console.print(f"Selected representatives: {', '.join(first)}.")
    for sentence in short_forms(summary):
        console.print(sentence)
    if agreement := summary.get("agreement"):
        console.print(
            f"Agreement of k-means with {agreement['name']} ({agreement['n_classes']} classes, "
            f"{agreement['n_samples']:,} samples): accuracy {agreement['accuracy_all']:.3f} on all "
            f"features, {agreement['accuracy_selected']:.3f} on the selected ones; adjusted Rand "
            f"index {agreement['adjusted_rand_all']:.3f} and "
            f"{agreement['adjusted_rand_selected']:.3f}."
        )
    if conditions := summary.get("conditions"):
        console.print(conditions["sentence"])
    for sentence in summary.get("growth", {}).get("sentences", []):
        console.print(sentence)
    lines = [f"\nWritten in {seconds:.0f} s: {out}/", f"  {', '.join(files)}"]
    lines.append(f"Open {out / 'report.html'} in a browser.")
    if summary["selection"]["n_features"] and request.table is not None:  # the moons are no file
        source = summary["table"]["source"]
        words = ["groupfs", "apply", str(out / "model.skops"), source, "-o", "selected-columns.csv"]
        lines.append(f"The selected columns themselves: {shlex.join(words)}")
    console.print(*lines, sep="\n", soft_wrap=True)  # paths stay in one piece


def print_check(checked: Any) -> None:
    """Print what became of the groups of a level in another table."""
    console = PlainConsole()
    console.print("", checked.sentence, *checked.notes, "", sep="\n")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, is_number in checked.HEADINGS.items():
        table.add_column(heading, justify="right" if is_number else "left", no_wrap=is_number)
    for of in checked.shown:
        table.add_row(*of.cells)
    console.print(table)
    console.print("", checked.LEGEND, sep="\n")


def _sentences(summary: dict[str, Any]) -> list[str]:
    """Return what was found, the levels first, with the option that shows another one."""
    told, levels = summary["sentences"], summary["levels_sentence"]
    if levels is None:
        return told
    others = [str(one["n_groups"]) for one in summary["levels"]]
    del others[summary["level"]]
    shows = f"--level {' or '.join(others)} shows the others."
    return [f"{levels} {shows}", *[sentence for sentence in told if sentence != levels]]


def _record(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the selection and the groups for machines; everything else is in result.json."""
    table, features, curve = summary["table"], summary["features"], summary["explained"]
    names, n_first = features["name"], curve["n_selected"]
    shown = ("n_groups", "agreement", "parent")
    copied = ("rank", "name", "size", "alpha", "omega", "p_adjusted", "replication", "kept")
    return {
        **{key: table[key] for key in ("source", "n_samples", "n_features")},
        "selected": [name for name, s in zip(names, features["selected"], strict=True) if s],
        "explained": {
            **{key: curve[key] for key in ("sentence", "n_related", "n_enough")},
            "share": n_first and curve["share"][n_first - 1],
        },
        "level": summary["level"],
        "levels": [{key: one[key] for key in shown} for one in summary["levels"]],
        "groups": [
            {
                **{key: group[key] for key in copied},
                "representative": group["representative_name"],
                "features": [names[i] for i in group["features"]],
                "reversed": [names[i] for i in group["features"] if features["sign"][i] < 0],
            }
            for group in summary["groups"]
        ],
        "in_no_group": table["in_no_group"],
        "agreement": summary.get("agreement"),
        "conditions": summary.get("conditions"),
        "notes": table["notes"],
    }


def _print_groups(console: Console, summary: dict[str, Any]) -> None:
    """Lay out the groups; names take the room that is left, however many there are."""
    from groupfs.report.schema import selected_first  # slow to import

    groups, features = summary["groups"], summary["features"]
    names, signs = features["name"], features["sign"]
    is_whole = all(group["n_selected"] in (0, group["size"]) for group in groups)
    order = "most central first" if is_whole else "most central, then selected"
    table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    for heading in _figures(groups[0]):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column(order, no_wrap=True, overflow="ellipsis", ratio=1)
    for group in groups[:MOST_GROUPS]:
        members = selected_first(features, group["features"])
        first = ", ".join("-" * (signs[i] < 0) + names[i] for i in members[:30])
        style = "bold" if group["kept"] else "dim"
        table.add_row(*_figures(group).values(), first, style=style)
    console.print("", table, sep="\n")
    if any("…" in segment.text for line in console.render_lines(table) for segment in line):
        console.print("…: more features than there is room for; groups.csv has all members.")
    if groups[MOST_GROUPS:]:
        console.print(f"... and {count(len(groups[MOST_GROUPS:]), 'more group')} in groups.csv")
    if any(signs[index] < 0 for group in groups[:MOST_GROUPS] for index in group["features"]):
        console.print("-name: the feature is reversed, low where those without a minus are high.")
    if groups[0]["replication"] is not None:
        console.print(f"replication: {REPLICATION}.")
    console.print(f"alpha: {ALPHA}; omega and intervals are in scales.csv.")


def _figures(group: dict[str, Any]) -> dict[str, str]:
    cells = {
        "group": str(group["name"]).removeprefix("group "),
        "kept": "yes" if group["kept"] else "no",
        "selected": f"{group['n_selected']} of {group['size']}",
        "alpha": "" if group["alpha"] is None else f"{group['alpha']:.2f}",
    }
    if group["p_adjusted"] is not None:
        cells["adj. p"] = write_p(group["p_adjusted"])
    if group["replication"] is not None:
        cells["replication"] = f"{group['replication']:.2f}"
    return cells
