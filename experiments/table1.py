"""Table 1: every method selects as many features as the paper's GroupFS did; accuracy of k-means.

With the appendix's ARI and standard deviations. The paper chose the number of features with labels
(#Feat: groups are added up to a local maximum of the accuracy), so every method has that help.
GroupFS takes whole groups by their gates until the number is covered, so that it may have more
features than the others (the table of models says how many), with the printed lambda2 and along a
sweep of it (``published``); baselines have the choices the paper prints.
Expected: GroupFS 70.6, 93.0, 68.0, 83.1, 42.1, 32.5, 38.4, 83.3, 48.9 on the nine tables.
Needs the published data (``GROUPFS_DATA``); about 13 minutes with ``--device cuda --jobs 16``.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments import data, methods, paper, published, running
from experiments.protocol import judge_clusters

QUICK_TABLES = ("heart_disease",)
QUICK_METHODS = ("ALL", "RANDOM", "VARIANCE", "LS", "MCFS", "MGAGR", "FeatureGroups")
MODELS = "GroupFS paper"
#: Which of the swept models a line of the table is about.
BY_PRINTED, BY_LOSS, BY_GAIN = (
    *("GroupFS paper, printed λ2", "GroupFS paper, lowest loss of the sweep"),
    "GroupFS paper, largest gain of the sweep",
)
SCENARIO = "fixed_budget"
NOT_COUNTED = "without the training of the swept models"
GATES = ["n_open", "n_groups", "gain"]


def parse(script: str, about: str | None, argv: Sequence[str] | None) -> Namespace:
    """Read the options of a table: device, datasets, and where swept models are."""
    return running.options(
        script,
        about,
        device={"default": "cpu", "choices": ["cpu", "cuda"]},
        tables={"nargs": "+", "default": list(data.NINE), "choices": data.NINE, "metavar": "TABLE"},
        sweep={"type": Path, "metavar": "FOLDER", "help": "take swept models from this folder"},
    ).parse_args(argv)


def models_of(
    tables: Sequence[str], device: str, quick: bool, folder: Path | None
) -> dict[str, list[published.Model]]:
    """Train the models of every table, or take those that another script has kept."""
    if folder is not None:
        print(f"swept models are taken from {folder}")
        return {table: published.load(table, folder) for table in tables}
    return {table: published.sweep(table, device, quick=quick) for table in tables}


def judge_model(table: str, selected: NDArray[np.int64], facts: running.Row) -> running.Row:
    labelled = data.load(table)
    scores = judge_clusters(labelled.Z, labelled.y, selected)
    return {**facts, "n_selected": len(selected), **scores}


def swept_cells(models: dict[str, list[published.Model]], device: str) -> list[running.Row]:
    origin = {"method": MODELS, "machine": running.machine(device)}
    return [
        {
            "table": table,
            "selected": published.covering(model, paper.budget(table)),
            "facts": {**origin, **model.facts(), "budget": paper.budget(table)},
        }
        for table, found in models.items()
        for model in found
    ]


def lines_of(rows: pd.DataFrame, measure: str) -> dict[str, dict[str, tuple[float, float]]]:
    """Gather mean and deviation by line of the table and by dataset.

    Deviations are those over the seeds of k-means, averaged over the seeds of the method.
    """
    lines: dict[str, dict[str, tuple[float, float]]] = {}
    for (method, table), own in rows.groupby(["method", "table"], sort=False):
        for name, some in chosen(own).items() if method == MODELS else [(method, own)]:
            if len(some):
                figures = some[[measure, f"{measure}_std"]].mean()
                lines.setdefault(str(name), {})[str(table)] = tuple(figures)
    return lines


def chosen(own: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Choose among the models of one table: by the printed weight, by loss, by gain."""
    mixed = own[own["is_mixed"].astype(bool)]
    return {
        BY_PRINTED: own[own["printed"] == SCENARIO],
        BY_LOSS: mixed.nsmallest(1, "loss"),
        BY_GAIN: mixed.nlargest(1, "gain"),
    }


def table_of(rows: pd.DataFrame, measure: str, spread: bool = True) -> str:
    """Write methods down, tables across: ours, and the paper's in brackets."""
    lines, tables = lines_of(rows, measure), in_order(rows)
    printed = paper.results()[f"scenario1_{measure}"]
    order = [*(m for m in methods.OF_PAPER if m in lines), *(m for m in lines if "paper" in m)]
    written = []
    for name in order if spread else [name for name in order if name != BY_GAIN]:
        theirs = "GroupFS" if "paper" in name else name
        cells = [beside(lines[name].get(t), printed[t].get(theirs), spread) for t in tables]
        written.append([name, *cells])
    return running.markdown(["", *tables], written)


def in_order(rows: pd.DataFrame) -> list[str]:
    """List the tables that rows are of, in the paper's order."""
    return [table for table in data.NINE if (rows["table"] == table).any()]


def beside(
    ours: tuple[float, float] | None, theirs: running.Row | None, spread: bool = True
) -> str:
    """Write a figure of ours and, in brackets, the paper's, with their deviations or without."""
    measured = f"{ours[0]:.1f}" if ours else running.NONE
    measured += f" ± {ours[1]:.1f}" if ours and spread else ""
    if not theirs:
        return measured
    return f"{measured} ({theirs['mean']}" + (f" ± {theirs['std']})" if spread else ")")


def models_table(rows: pd.DataFrame, short: bool = False) -> str:
    """Write, for each dataset, how many models are mixed, their gates, gains and accuracies."""
    head = [
        *("", "#Feat", "printed λ2 / critical", "printed: gates open of C, gain"),
        *("mixed of swept", "lowest loss: open, gain, features", "largest gain: open, gain"),
        *("accuracy of mixed: lowest, median, highest", "the paper", "all features", "random"),
        "default: open, gain, mean of seeds",
    ]
    written = []
    for table in in_order(rows):
        own = rows[rows["table"] == table]
        default = own[own["method"] == "GroupFS default"]
        plain = own.groupby("method")["accuracy"].mean()
        swept = own[own["method"] == MODELS]
        if not len(swept):
            continue
        mixed, some = swept[swept["is_mixed"].astype(bool)], chosen(swept)
        printed, by_loss, by_gain = some.values()
        spread = mixed["accuracy"].quantile([0, 0.5, 1]) if len(mixed) else []
        written.append(
            [
                table,
                str(paper.budget(table)),
                f"{printed['sparsity'].mean():.3f}",
                "; ".join(map(_gates, printed.itertuples())),
                f"{len(mixed)} of {len(swept)}",
                "; ".join(f"{_gates(m)}, {m.n_selected:.0f}" for m in by_loss.itertuples())
                or running.NONE,
                "; ".join(map(_gates, by_gain.itertuples())) or running.NONE,
                " ".join(f"{value:.1f}" for value in spread) or running.NONE,
                str(paper.results()["scenario1_accuracy"][table]["GroupFS"]["mean"]),
                running.number(plain.get("ALL", np.nan)),
                running.number(plain.get("RANDOM", np.nan)),
                _gates(default[GATES].mean()) if len(default) else running.NONE,
            ]
        )
    if short:  # without what table 1 has already
        left_out = {6, 8, 9, 10}
        head, *written = (
            [cell for place, cell in enumerate(line) if place not in left_out]
            for line in (head, *written)
        )
    return running.markdown(head, written)


def _gates(model: object) -> str:
    return f"{model.n_open:.0f} of {model.n_groups:.0f}, {model.gain:+.3f}"  # type: ignore[attr-defined]


def main(argv: Sequence[str] | None = None) -> None:
    given = parse(__file__, __doc__, argv)
    tables = QUICK_TABLES if given.quick else given.tables
    rows = pd.DataFrame()
    if not given.join:
        models = models_of(tables, given.device, given.quick, given.sweep)
        published.save(models, given.out / "sweep")
        rows = running.compute(swept_cells(models, given.device), judge_model, given)
    names = QUICK_METHODS if given.quick else methods.OF_PAPER
    cells = [
        cell
        for table in tables
        for method in names
        for cell in methods.cells(table, method, [paper.budget(table)], given.quick)
    ]
    work = partial(
        methods.select_and_judge, device=given.device, scenario=SCENARIO, quick=given.quick
    )
    rows = pd.concat([rows, running.compute(cells, work, given)], ignore_index=True)
    parts = [
        running.command(rows, "table1", " --device cuda --jobs 16", NOT_COUNTED),
        "Accuracy of k-means in percent, mean ± deviation over its ten seeds (the paper's in "
        "brackets):",
        table_of(rows, "accuracy"),
        "The models of GroupFS as published, along λ2:",
        models_table(rows),
        "Adjusted Rand index, in percent:",
        table_of(rows, "ari"),
    ]
    short = f"{table_of(rows, 'accuracy', spread=False)}\n\n{models_table(rows, short=True)}"
    running.write(given, rows, parts, short)


if __name__ == "__main__":
    main()
