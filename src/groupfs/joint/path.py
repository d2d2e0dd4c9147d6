"""GroupFSPath: every sparsity and seed in one training run, and the choice of a model.

Axes: S seeds, P sparsities, d features, C groups.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from groupfs.groups import OPEN
from groupfs.joint.estimator import JointSelector
from groupfs.utils.errors import ParameterError
from groupfs.utils.sklearn_compat import parameter
from groupfs.utils.types import BoolArray, FloatArray

if TYPE_CHECKING:
    from groupfs.joint.problem import Problem
    from groupfs.joint.training import LearnedGroups, Trained

#: Relative sparsities that are trained if none are given.
DEFAULT_SPARSITIES = np.geomspace(0.25, 3.0, 24)
#: As published, so many from all gates open to all gates shut, looked for among these first.
N_SWEPT, BRACKET = 40, np.geomspace(0.5, 2.0, 17)


@dataclass(eq=False, repr=False, kw_only=True)
class GroupFSPath(JointSelector):
    r"""Train GroupFS at many sparsities and seeds, and choose one of the models.

    It is the one with the largest gain: its loss is the furthest below that of both trivial models,
    all gates open and all gates shut, at its own sparsity. Kept are the groups that it leaves open.

    ``preset="paper"`` sweeps :math:`\lambda_2` as published, from all gates open to all shut, and
    takes the model with the lowest loss of those that are neither. The smaller :math:`\lambda_2`,
    the smaller the loss, so that this is a model near the lower end, which closes few gates.

    Parameters
    ----------
    sparsities : array-like or None, default=None
        Relative sparsities. None is 24 values from 0.25 to 3; with preset "paper" 40 values from
        where all gates are open to where all are shut.
    n_init : int, default=2
        Seeds trained at every sparsity.
    n_groups, n_features_to_select, n_groups_to_select, n_per_group, output, smoothness_weight,
    preset, bandwidth_gradient, start_temperature, end_temperature, batch_size, max_epochs,
    early_stopping, learning_rate, n_neighbors, feature_neighbors, diffusion_steps, gate_noise,
    standardize, device, random_state, verbose
        As in :class:`GroupFS`.

    Attributes
    ----------
    path_ : GroupPath
        Gates, gains, losses and selection frequencies along the path, which
        :func:`groupfs.plotting.plot_path` draws.
    sparsity_ : float
        Relative sparsity of the chosen model.
    groups_, group_labels_, group_gates_, group_kept_, ...
        Of the chosen model, as in :class:`GroupFS`.

    Examples
    --------
    >>> from groupfs import GroupFSPath
    >>> from groupfs.datasets import load_two_moons
    >>> X = load_two_moons(200, random_state=0).data
    >>> path = GroupFSPath(random_state=0).fit(X)
    >>> [group.tolist() for group in path.groups_[:2]]
    [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    """

    __module__ = "groupfs"

    sparsities: ArrayLike | None = parameter(None, "array-like", None)

    def _open(self, X: Any) -> Any:
        self._given_sparsities()  # refused before anything is computed
        return super()._open(X)

    def _train(self, problem: "Problem") -> "Trained":
        from groupfs.joint.training import train_models

        sparsities = self._given_sparsities()
        if sparsities is None and problem.settings.is_published:
            bracket = train_models(problem, BRACKET)
            if bracket.histories[-1].interrupted:
                return bracket
            sparsities = transition(bracket)
        return train_models(problem, DEFAULT_SPARSITIES if sparsities is None else sparsities)

    def _given_sparsities(self) -> FloatArray | None:
        if self.sparsities is None:
            return None
        values = np.unique(np.asarray(self.sparsities, dtype=float))
        if not len(values) or not np.isfinite(values).all() or values[0] <= 0:
            raise ParameterError(
                f"sparsities={self.sparsities!r} must be positive numbers, relative to the "
                "critical weight; None takes those of the preset.",
                "sparsities",
            )
        return values

    def _set_model(
        self, X: Any, problem: "Problem", trained: "Trained", seed: int, weight: int
    ) -> "LearnedGroups":
        """Describe all models of the path in terms of the groups of the chosen one."""
        learned = super()._set_model(X, problem, trained, seed, weight)
        sparsities, gates = trained.sparsities, trained.gates[:, :, learned.order]
        frequency = np.zeros((len(sparsities), len(problem.table.names)))
        frequency[:, problem.table.columns] = trained.open_features.mean(0)
        self.sparsity_ = float(sparsities[weight])
        terms = np.stack([history.last_terms for history in trained.histories], axis=1)
        models = (trained.sparsity_weights, gates, trained.gain, trained.loss, terms, frequency)
        found = ((seed, weight), learned.groups.smoothness, self.group_kept_)
        self.path_ = GroupPath(sparsities, *models, *found)
        return learned


def transition(trained: "Trained") -> FloatArray:
    """Find sparsities from where all features are behind open gates to where all are shut in.

    Where one of both was not reached, or no change was seen, they go to the ends of those trained.
    """
    sparsities, open_share = trained.sparsities, trained.open_features.mean((0, 2))
    last_open = sparsities[open_share == 1].max(initial=sparsities[0])
    first_shut = sparsities[open_share == 0].min(initial=sparsities[-1])
    if last_open >= first_shut:
        last_open, first_shut = sparsities[0], sparsities[-1]
    return np.linspace(last_open, first_shut, N_SWEPT)


@dataclass
class GroupPath:
    """S seeds trained at P sparsities; groups are in the order of ``groups_``."""

    __module__ = "groupfs"

    sparsities: FloatArray  #: relative to the critical weight, ascending, (P,)
    sparsity_weights: FloatArray  #: lambda2, (P,)
    gates: FloatArray  #: gate means mu, (S, P, C)
    gain: FloatArray  #: over the better of the two trivial models, (S, P)
    loss: FloatArray  #: L without noise, (S, P)
    terms: FloatArray  #: L_s, L_f and L_reg in the last epoch, unweighted, (S, P, 3)
    selection_frequency: FloatArray  #: share of seeds with the feature's group open, (P, d)
    chosen: tuple[int, int]  #: seed and sparsity of the chosen model
    smoothness: FloatArray  #: of the groups beyond chance, (C,)
    kept: BoolArray  #: which groups are kept, (C,)

    @property
    def is_open(self) -> BoolArray:
        """Which groups are open where, (S, P, C)."""
        return self.gates > OPEN
