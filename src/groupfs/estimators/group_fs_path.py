"""GroupFSPath: every sparsity and seed in one training run, and the choice of a model."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from groupfs.estimators.base import GroupSelector
from groupfs.training.settings import Settings
from groupfs.utils.errors import ParameterError
from groupfs.utils.seeds import derive_seeds
from groupfs.utils.sklearn_compat import Interval, StrOptions, fit_context
from groupfs.utils.types import FloatArray

if TYPE_CHECKING:
    import torch

    from groupfs.data.feature_basis import SimilarityFunction
    from groupfs.data.table import Table
    from groupfs.training.checkpoints import Checkpoint
    from groupfs.training.solve import Task

#: Relative sparsities that are trained if none are given.
DEFAULT_SPARSITIES = np.geomspace(0.25, 3.0, 24)


@dataclass(eq=False, repr=False, kw_only=True)
class GroupFSPath(GroupSelector):
    r"""GroupFS at many sparsities and seeds at once, and the model the path speaks for.

    All models are trained side by side in one run. The chosen one has the largest gain: its loss is
    the furthest below that of both trivial models, all gates open and all gates shut, at its own
    sparsity. By default all models have the same groups, and those that stand out from chance are
    kept; ``n_groups_to_select="open"`` keeps those that the chosen model leaves open.

    Parameters
    ----------
    n_groups : int, list of int, "auto", "replication" or "distortion", default="auto"
        C, or several to choose from by gain. Gain compares what is selected; it does not tell
        whether groups that are all kept should be one. The words as in :class:`GroupFS`.
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
        A folder in which finished parts of the path and resamples are kept while ``fit`` is at
        work. A fit that was killed and is started again, with the same table and parameters, goes
        on with the next part and ends with the same result to the last bit, on the same machine.
        What was kept is removed when ``fit`` has ended; damaged files and those of other tables or
        parameters are not used. Needs a ``random_state``.
    smoothness_weight, n_features_to_select, explain, allocation, n_groups_to_select, output,
    ranking, alpha, preset, signed, similarity, metric, keep_unrelated, learn_memberships,
    bandwidth_gradient, gate_start, start_temperature, end_temperature, batch_size, max_epochs,
    early_stopping, learning_rate, n_neighbors, feature_neighbors, diffusion_steps, gate_noise,
    standardize, device, max_memory, random_state, verbose
        As in :class:`GroupFS`.

    Attributes
    ----------
    path_ : GroupPath
        Gates, gains, losses and selection frequencies along the path; ``path_.plot()`` draws it.
        None if no feature goes with another.
    stability_ : Stability or None
        Selection and co-grouping frequencies over resamples, consensus groups.
    sparsity_ : float
        Relative sparsity of the chosen model.
    gains_by_n_groups_ : dict
        Largest gain for each number of groups tried.
    groups_, group_labels_, group_signs_, group_scores_, group_pvalues_, group_reliability_, ...
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

    n_groups: int | Sequence[int] | str = field(default="auto", kw_only=False)
    sparsities: ArrayLike | None = None
    n_init: int = 2
    n_resamples: int = 0
    resample: str = "subsample"
    smoothness_weight: float | str = "auto"
    n_features_to_select: float | None = None
    explain: float | None = None
    allocation: str | None = None
    n_groups_to_select: int | str | None = None
    output: str = "features"
    ranking: str | None = None
    alpha: float = 0.01
    preset: str = "default"
    signed: bool | None = None
    similarity: "str | SimilarityFunction" = "correlation"
    metric: Any = "euclidean"
    keep_unrelated: bool | None = None
    learn_memberships: bool | None = None
    bandwidth_gradient: str | None = None
    gate_start: str | None = None
    start_temperature: float | None = None
    end_temperature: float = 0.01
    batch_size: int | None = None
    max_epochs: int | None = None
    early_stopping: bool | None = None
    learning_rate: float | None = None
    n_neighbors: int = 7
    feature_neighbors: int | str | None = None
    diffusion_steps: int = 2
    gate_noise: float = 0.5
    standardize: bool = True
    device: "str | torch.device" = "auto"
    max_memory: int | str | None = None
    n_jobs: int | None = None
    checkpoint: str | os.PathLike[str] | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0

    _parameter_constraints = {
        **GroupSelector._parameter_constraints,
        "n_groups": [Integral, "array-like", StrOptions({"auto", "replication", "distortion"})],
        "sparsities": ["array-like", None],
        "ranking": [StrOptions({"excess", "gate", "path"}), None],
        "n_resamples": [Interval(Integral, 0, None, closed="left")],
        "resample": [StrOptions({"subsample", "bootstrap"})],
        "n_jobs": [Integral, None],
        "checkpoint": [str, os.PathLike, None],
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Train the path, choose a model and describe it.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame or tensor of shape (n_samples, n_features)
            The table. DataFrames of pandas and polars may have columns of numbers, truth values,
            categories, text and dates; gaps (NaN, None, NaT) need no filling in. Also
            memory-mapped arrays, h5py and zarr datasets, AnnData's backed matrices, and whatever
            else has a shape and gives rows when sliced: where it is too large for ``max_memory``
            it is read in blocks of rows. Arrays and DataFrames of dask: where they
            are too large they are worked on where their blocks are.
        y : ignored
            Labels are never looked at.
        """
        from groupfs.utils.device import resolve_devices
        from groupfs.utils.threads import threads_for

        sparsities = self._checked_sparsities()
        devices = resolve_devices(self.device)
        table = self._open_table(X)
        settings = self._settings(table)
        with threads_for(table.rows.shape):
            self._fit_table(table, settings, devices, sparsities)
        self._learn_columns(X, table)
        return self

    def _fit_table(
        self,
        table: "Table",
        settings: Settings,
        devices: "list[torch.device]",
        sparsities: FloatArray,
    ) -> None:
        """Find groups, train the path, choose a model, describe it and refit resamples."""
        from groupfs.estimators.stability import Resamples, refit_all, summarise
        from groupfs.selection.describe import describe
        from groupfs.selection.sparsity_path import describe_path
        from groupfs.training.discovery import NoGroups
        from groupfs.training.solve import Task, solve
        from groupfs.utils.device import DTYPE

        seeds = derive_seeds(check_random_state(self.random_state), self.n_init)
        table.rows.to(devices[0], DTYPE)
        relatedness = self._relatedness(table, settings, seeds[0])
        task = Task(
            table,
            settings,
            seeds,
            devices,
            lambda critical: np.asarray(sparsities * critical),
            numbers_of_groups=self._numbers_of_groups(settings),
            relatedness=relatedness,
            n_jobs=self.n_jobs,
        )
        checkpoint = self._open_checkpoint(task, sparsities)
        try:
            solution = solve(replace(task, checkpoint=checkpoint))
        except NoGroups:
            self._describe_nothing()
            self.gains_by_n_groups_, self.sparsity_ = {}, 0.0
            self.path_ = self.stability_ = None
            self._order(table, relatedness, seeds[0], settings.metric)
            self._select()
            return
        problem, trained = solution.problem, solution.trained
        self.gains_by_n_groups_ = solution.gains
        sparsities = sparsities[: trained.gain.shape[1]]  # Ctrl-C may have ended the path early
        seed, best = map(int, np.unravel_index(int(trained.gain.argmax()), trained.gain.shape))
        result = describe(problem, trained, seed, best)

        self._describe(problem, result)
        self._order(table, relatedness, seeds[0], settings.metric)
        self._select()
        self.sparsity_ = float(sparsities[best])
        self.path_ = describe_path(
            problem, trained, sparsities, result, (seed, best), self.group_selected_
        )
        self.stability_ = None
        interrupted = solution.interrupted
        if self.n_resamples:
            resamples = Resamples(self.n_resamples, self.resample, seeds[0], self.n_jobs)
            # a path that was cut short may choose another model than when it goes on
            kept = None if interrupted else checkpoint
            refits = refit_all(problem, self.sparsity_, resamples, kept)
            interrupted |= any(refit.interrupted for refit in refits)
            self.stability_ = summarise(
                refits, problem.table.columns, self.n_features_in_, problem.n_groups
            )
        if checkpoint is not None and not interrupted:
            checkpoint.remove()

    def _open_checkpoint(self, task: "Task", sparsities: FloatArray) -> "Checkpoint | None":
        """Open the checkpoint of this table and these settings, if one is wanted."""
        from groupfs.training.checkpoints import fingerprint, open_checkpoint

        if self.checkpoint is None:
            return None
        if self.random_state is None:
            raise ParameterError(
                f"checkpoint={str(self.checkpoint)!r} but random_state=None: every fit draws "
                "other seeds, so none could go on from another; set random_state to a number.",
                "checkpoint",
            )
        facts = {
            "sparsities": sparsities.tolist(),
            "numbers_of_groups": task.numbers_of_groups,
            "seeds": task.seeds,
            "resamples": [self.n_resamples, self.resample],
        }
        name = fingerprint(task.table, task.settings, facts, task.devices[0])
        return open_checkpoint(self.checkpoint, name)

    def _numbers_of_groups(self, settings: Settings) -> list[int | str]:
        if isinstance(self.n_groups, str):
            return [settings.n_groups]
        return [int(n_groups) for n_groups in np.atleast_1d(self.n_groups)]

    def _checked_sparsities(self) -> FloatArray:
        if self.sparsities is None:
            return DEFAULT_SPARSITIES
        values = np.unique(np.asarray(self.sparsities, dtype=float))
        if not len(values) or not np.isfinite(values).all() or values[0] <= 0:
            raise ParameterError(
                f"sparsities={self.sparsities!r} must be positive numbers, relative to the "
                "critical weight; None takes 24 values from 0.25 to 3.",
                "sparsities",
            )
        return values
