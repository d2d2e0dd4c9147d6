"""Draw the pictures of the page on columns of all kinds.

``python -m docs.guide.draw_kinds`` writes them to docs/images. The students' table is looked for as
in the benchmarks: GROUPFS_DATA, or ../shared/data beside the project.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from groupfs import FeatureGroups
from groupfs.data.basis import make_basis
from groupfs.data.columns import encode_columns
from groupfs.data.mixed_similarity import similarities
from groupfs.groups import Groups
from tests.support.mixed_kinds import students
from tests.support.related_features import related_table

IMAGES = Path(__file__).parents[1] / "images"
SIMILARITIES = ("correlation", "rank", "distance")
#: Two features of the first group of each shape.
PAIRS = {"line": (0, 1), "parabola": (0, 1), "circle": (0, 1), "bent, outliers": (0, 1)}


def draw_students() -> None:
    """Draw similarities of the students' columns, sorted by group."""
    frame, _ = students()
    selector = FeatureGroups(random_state=0).fit(frame)
    alike = np.abs(similarities(make_basis(encode_columns(frame), "correlation")))
    groups = [Groups.of(selector).by_centrality(j) for j in range(selector.n_groups_)]
    rest = np.flatnonzero(selector.group_labels_ < 0)
    order = np.concatenate([*groups, rest])
    figure, axes = plt.subplots(figsize=(7.2, 6.4), layout="constrained")
    shown = alike[np.ix_(order, order)]
    np.fill_diagonal(shown, np.nan)
    image = axes.imshow(shown, cmap="Blues", vmin=0, vmax=0.6)
    start = -0.5
    for group in groups:
        size = len(group)
        axes.add_patch(
            plt.Rectangle((start, start), size, size, fill=False, edgecolor="#b3391f", lw=1.6)
        )
        start += size
    kinds = {"category": " (category)", "number": ""}
    names = [f"{frame.columns[i]}{kinds[selector.feature_kinds_[i]]}" for i in order]
    axes.set_yticks(range(len(order)), names, fontsize=8)
    axes.set_xticks([])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    figure.colorbar(image, ax=axes, shrink=0.6, label="similarity")
    figure.savefig(IMAGES / "kinds-students.png", dpi=150, bbox_inches="tight")


def draw_relations() -> None:
    """Draw a pair of features of each shape, with their similarity by each measure."""
    figure, all_axes = plt.subplots(2, 2, figsize=(7, 7.6), layout="constrained")
    for axes, (shape, (i, j)) in zip(all_axes.flat, PAIRS.items(), strict=True):
        X, _ = related_table(shape, 0)
        x, y = X[:, i], X[:, j]
        axes.scatter(x, y, s=4, color="#1d5b8f", alpha=0.6, linewidths=0)
        for values, limit in ((x, axes.set_xlim), (y, axes.set_ylim)):
            low, high = np.quantile(values, [0, 0.985 if shape == "bent, outliers" else 1])
            limit(low - 0.05 * (high - low), high + 0.05 * (high - low))
        axes.set_title(shape.replace("bent", "bent line"), fontsize=13)
        axes.set_xticks([])
        axes.set_yticks([])
        values = list(X.T[:, :, None])
        measured = [
            (name, abs(similarities(make_basis(values, name))[i, j])) for name in SIMILARITIES
        ]
        words = "\n".join(f"{name.replace('_', ' '):<19} {value:.2f}" for name, value in measured)
        axes.set_xlabel(words, family="monospace", fontsize=10.5, loc="left", labelpad=8)
    figure.savefig(IMAGES / "similarities.png", dpi=150, bbox_inches="tight")


if __name__ == "__main__":
    draw_students()
    draw_relations()
