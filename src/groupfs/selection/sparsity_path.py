"""GroupPath: what became of the groups along the sparsities of a path."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from groupfs.models.objective import OPEN
from groupfs.selection.describe import GroupResult, closing_sparsity, memberships_of
from groupfs.training.problem import Problem
from groupfs.training.run import Trained
from groupfs.utils.types import BoolArray, FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class GroupPath:
    """S seeds trained at P sparsities; groups are in the order of ``groups_``."""

    __module__ = "groupfs"

    sparsities: FloatArray  #: relative to the critical weight, ascending, (P,)
    sparsity_weights: FloatArray  #: lambda2, (P,)
    gates: FloatArray  #: gate means, (S, P, C)
    gain: FloatArray  #: over the better of the two trivial models, (S, P)
    loss: FloatArray  #: without noise, (S, P)
    terms: FloatArray  #: the three terms of the loss in the last epoch, unweighted, (S, P, 3)
    closing_sparsity: FloatArray  #: largest sparsity at which a group is open, chosen seed, (C,)
    selection_frequency: FloatArray  #: share of seeds with the feature's group open, (P, d)
    chosen: tuple[int, int]  #: seed and sparsity of the chosen model
    scores: FloatArray  #: scores of the groups, (C,)
    kept: BoolArray  #: which groups are kept, (C,)

    @property
    def is_open(self) -> BoolArray:
        """Which groups are open where, (S, P, C)."""
        return self.gates > OPEN

    @property
    def chosen_sparsity(self) -> float:
        return float(self.sparsities[self.chosen[1]])

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the path of the chosen seed; see :func:`groupfs.plotting.plot_path`."""
        from groupfs.plotting import plot_path

        return plot_path(self, ax=ax)


def describe_path(
    problem: Problem,
    trained: Trained,
    sparsities: FloatArray,
    result: GroupResult,
    chosen: tuple[int, int],
    kept: BoolArray,
) -> GroupPath:
    """Describe all models of a path in terms of the groups of the chosen one."""
    S, P = trained.gain.shape
    is_open = trained.gates > OPEN
    frequency = np.zeros((P, len(problem.table.names)))
    for s in range(S):
        for p in range(P):
            labels = memberships_of(problem, trained, s, p).labels()
            frequency[p, problem.table.columns] += is_open[s, p][labels]
    gates = trained.gates[:, :, result.order]
    return GroupPath(
        sparsities=sparsities,
        sparsity_weights=trained.sparsity_weights,
        gates=gates,
        gain=trained.gain,
        loss=trained.loss,
        terms=trained.terms,
        closing_sparsity=closing_sparsity(gates[chosen[0]], sparsities),
        selection_frequency=frequency / S,
        chosen=chosen,
        scores=result.scores,
        kept=kept,
    )
