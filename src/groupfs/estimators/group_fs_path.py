"""GroupFSPath: every sparsity and seed in one training run, and the choice of a model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from groupfs.data.open_table import open_table
from groupfs.data.table import Table
from groupfs.estimators import stability
from groupfs.estimators.base import GroupSelector
from groupfs.models.all_groups import OPEN
from groupfs.selection.describe import GroupResult, Trained, closing_sparsity, read_off
from groupfs.training.checkpoint_content import digest
from groupfs.training.checkpoints import Checkpoint, open_checkpoint
from groupfs.training.path_runs import prepared, refit_all, train_path
from groupfs.training.problem import Problem
from groupfs.utils.device import derive_seeds, resolve_devices
from groupfs.utils.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Relative sparsities that are trained if none are given.
DEFAULT_SPARSITIES = np.geomspace(0.25, 3.0, 24)


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
    kept: NDArray[np.bool_]  #: which groups are kept, (C,)

    @property
    def is_open(self) -> NDArray[np.bool_]:
        """Which groups are open where, (S, P, C)."""
        return self.gates > OPEN

    @property
    def chosen_sparsity(self) -> float:
        return float(self.sparsities[self.chosen[1]])

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the path of the chosen seed; see :func:`groupfs.plotting.plot_path`."""
        from groupfs.plotting import plot_path

        return plot_path(self, ax=ax)


class GroupFSPath(GroupSelector):
    r"""GroupFS at many sparsities and seeds at once, and the model the path speaks for.

    All models are trained side by side in one run. The chosen one has the largest gain: its loss is
    the furthest below that of both trivial models, all gates open and all gates shut, at its own
    sparsity.

    Parameters
    ----------
    n_groups : int, list of int or "auto", default="auto"
        C, or several to choose from by gain. Gain compares what is selected; it does not tell
        whether groups that are all kept should be one.
    sparsities : array-like or None, default=None
        Relative sparsities; None is 24 values from 0.25 to 3.
    n_init : int, default=2
        Seeds trained at every sparsity.
    n_resamples : int, default=0
        Refits of the chosen number of groups and sparsity on resampled rows, for ``stability_``.
    resample : {"subsample", "bootstrap"}, default="subsample"
        Half of the rows without replacement, or as many as there are with replacement.
    n_jobs : int or None, default=None
        Processes that share the path and the refits, through joblib and its backends. The result
        does not depend on it.
    checkpoint : str, path or None, default=None
        A folder in which finished parts and the state of training are kept while ``fit`` is at
        work. A fit that was killed and is started again, with the same table and parameters, goes
        on from there and ends with the same result to the last bit, on the same machine. What was
        kept is removed when ``fit`` has ended; damaged files and those of other tables or
        parameters are not used. Needs a ``random_state``.
    smoothness_weight, n_features_to_select, allocation, n_groups_to_select, output, ranking, alpha,
    preset, bandwidth_gradient, gate_start, start_temperature, end_temperature, batch_size,
    max_epochs, early_stopping, learning_rate, n_neighbors, feature_neighbors, diffusion_steps,
    gate_noise, standardize, device, max_memory, random_state, verbose
        As in :class:`GroupFS`.

    Attributes
    ----------
    path_ : GroupPath
        Gates, gains, losses and selection frequencies along the path; ``path_.plot()`` draws it.
    stability_ : Stability or None
        Selection and co-grouping frequencies over resamples, consensus groups.
    sparsity_ : float
        Relative sparsity of the chosen model.
    gains_by_n_groups_ : dict
        Largest gain for each number of groups tried.
    groups_, group_labels_, group_scores_, group_pvalues_, group_gates_, group_selected_, ...
        Of the chosen model, as in :class:`GroupFS`.

    Examples
    --------
    >>> from groupfs import GroupFSPath
    >>> from groupfs.datasets import load_two_moons
    >>> X = load_two_moons(300, random_state=0).data
    >>> path = GroupFSPath(random_state=0).fit(X)
    >>> [group.tolist() for group in path.groups_[:2]]
    [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    """

    __module__ = "groupfs"

    _parameter_constraints: dict[str, list[Any]] = {
        **GroupSelector._parameter_constraints,
        "n_groups": [Integral, "array-like", StrOptions({"auto"})],
        "sparsities": ["array-like", None],
        "ranking": [StrOptions({"excess", "gate", "path"}), None],
        "n_resamples": [Interval(Integral, 0, None, closed="left")],
        "resample": [StrOptions({"subsample", "bootstrap"})],
        "n_jobs": [Integral, None],
        "checkpoint": [str, os.PathLike, None],
    }

    def __init__(
        self,
        n_groups: int | Sequence[int] | str = "auto",
        *,
        sparsities: ArrayLike | None = None,
        n_init: int = 2,
        n_resamples: int = 0,
        resample: str = "subsample",
        smoothness_weight: float | str = "auto",
        n_features_to_select: int | None = None,
        allocation: str | None = None,
        n_groups_to_select: int | str | None = None,
        output: str = "features",
        ranking: str | None = None,
        alpha: float = 0.01,
        preset: str = "default",
        bandwidth_gradient: str | None = None,
        gate_start: str | None = None,
        start_temperature: float | None = None,
        end_temperature: float = 0.01,
        batch_size: int | None = None,
        max_epochs: int | None = None,
        early_stopping: bool | None = None,
        learning_rate: float | None = None,
        n_neighbors: int = 7,
        feature_neighbors: int | str | None = None,
        diffusion_steps: int = 2,
        gate_noise: float = 0.5,
        standardize: bool = True,
        device: str | torch.device = "auto",
        max_memory: int | str | None = None,
        n_jobs: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_groups = n_groups
        self.sparsities = sparsities
        self.n_init = n_init
        self.n_resamples = n_resamples
        self.resample = resample
        self.smoothness_weight = smoothness_weight
        self.n_features_to_select = n_features_to_select
        self.allocation = allocation
        self.n_groups_to_select = n_groups_to_select
        self.output = output
        self.ranking = ranking
        self.alpha = alpha
        self.preset = preset
        self.bandwidth_gradient = bandwidth_gradient
        self.gate_start = gate_start
        self.start_temperature = start_temperature
        self.end_temperature = end_temperature
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.early_stopping = early_stopping
        self.learning_rate = learning_rate
        self.n_neighbors = n_neighbors
        self.feature_neighbors = feature_neighbors
        self.diffusion_steps = diffusion_steps
        self.gate_noise = gate_noise
        self.standardize = standardize
        self.device = device
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Train the path, choose a model and describe it.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or tensor of shape (n_samples, n_features)
            The table. Also memory-mapped arrays, dask arrays, h5py and zarr datasets, AnnData's
            backed matrices, and whatever else has a shape and gives rows when sliced: where it is
            too large for ``max_memory`` it is read in blocks of rows.
        y : ignored
            Labels are never looked at.
        """
        sparsities = self._checked_sparsities()
        devices = resolve_devices(self.device)
        table = open_table(
            self, X, self.standardize, self.max_memory, self.n_init, bool(self.verbose)
        )
        settings = self._settings(table)
        seeds = derive_seeds(check_random_state(self.random_state), self.n_init)
        settings |= {"sparsities": sparsities, "n_groups": self._numbers_of_groups()}
        checkpoint = self._opened(table, settings, seeds, devices[0])

        problem, trained, interrupted = self._falling_back(
            lambda where: self._best(
                table,
                settings,
                seeds,
                devices if where == devices[0] else [where],
                checkpoint if where == devices[0] else None,
            ),
            devices[0],
        )
        sparsities = sparsities[: trained.gain.shape[1]]  # Ctrl-C may have ended the path early
        seed, place = np.unravel_index(int(trained.gain.argmax()), trained.gain.shape)
        result = read_off(problem, trained, int(seed), int(place))

        self._describe(table, problem, result)
        self._select()
        self.sparsity_ = float(sparsities[place])
        chosen = int(seed), int(place)
        self.path_ = _describe_path(self, table, trained, sparsities, result, chosen)
        self.stability_ = None
        if self.n_resamples:
            # a path that was cut short may choose another model than when it goes on
            kept = None if interrupted else checkpoint
            refits = refit_all(self, problem, seeds[0], kept)
            interrupted |= any(refit.interrupted for refit in refits)
            self.stability_ = stability.summarise(
                refits, table.columns, self.n_features_in_, problem.n_groups
            )
        if checkpoint is not None and not interrupted:
            checkpoint.remove()
        return self

    def _opened(
        self, table: Table, settings: dict[str, Any], seeds: list[int], device: torch.device
    ) -> Checkpoint | None:
        """The checkpoint of this table and these settings, if one is wanted."""
        if self.checkpoint is None:
            return None
        if self.random_state is None:
            raise ValueError(
                f"checkpoint={str(self.checkpoint)!r} but random_state=None: every fit draws "
                "other seeds, so none could go on from another; set random_state to a number."
            )
        return open_checkpoint(self.checkpoint, digest(table, settings, seeds, device))

    def _best(
        self,
        table: Table,
        settings: dict[str, Any],
        seeds: list[int],
        devices: list[torch.device],
        checkpoint: Checkpoint | None,
    ) -> tuple[Problem, Trained, bool]:
        """The path of the number of groups with the largest gain; whether Ctrl-C cut it short."""
        self.gains_by_n_groups_ = {}
        best: tuple[Problem, Trained] | None = None
        for place, n_groups in enumerate(settings["n_groups"]):
            task = table, {**settings, "n_groups": n_groups}, seeds, devices[0]
            problem = prepared(task, checkpoint, f"problem-{place}")
            weights = settings["sparsities"] * problem.critical_sparsity_weight
            trained = train_path(
                problem, weights, self.n_jobs, devices, checkpoint, f"path-{place}"
            )
            self.gains_by_n_groups_[problem.n_groups] = float(trained.gain.max())
            if best is None or trained.gain.max() > best[1].gain.max():
                best = problem, trained
            if trained.interrupted:
                break
        assert best is not None
        return *best, trained.interrupted

    def _numbers_of_groups(self) -> list[int | str]:
        if isinstance(self.n_groups, str):
            return [self.n_groups]
        return [int(n_groups) for n_groups in np.atleast_1d(self.n_groups)]

    def _checked_sparsities(self) -> FloatArray:
        if self.sparsities is None:
            return DEFAULT_SPARSITIES
        values = np.unique(np.asarray(self.sparsities, dtype=float))
        if not len(values) or not np.isfinite(values).all() or values[0] <= 0:
            raise ValueError(
                f"sparsities={self.sparsities!r} must be positive numbers, relative to the "
                "critical weight; None takes 24 values from 0.25 to 3."
            )
        return values


def _describe_path(
    selector: GroupFSPath,
    table: Table,
    trained: Trained,
    sparsities: FloatArray,
    result: GroupResult,
    chosen: tuple[int, int],
) -> GroupPath:
    S, P = trained.gain.shape
    is_open = trained.gates > OPEN
    frequency = np.zeros((P, selector.n_features_in_))
    for s in range(S):
        for p in range(P):
            frequency[p, table.columns] += is_open[s, p][trained.memberships(s, p).labels()]
    gates = trained.gates[:, :, result.places]
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
        kept=selector.group_selected_,
    )
