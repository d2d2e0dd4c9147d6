"""MGAGR: groups known beforehand, one sample graph per group, a sparse reconstruction of X."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from groupfs.baselines.base import RankingSelector, shared_constraints
from groupfs.baselines.mgagr.solver import solve
from groupfs.data.known_groups import check_places, parse_groups
from groupfs.data.table import Table
from groupfs.utils.device import resolve_device

#: Blocks that n_groups="auto" cuts the features into, as long as two features are left for each.
AUTO_GROUPS = 10


class MGAGR(RankingSelector):
    r"""Keep the features from which the others are rebuilt best, on a graph the groups agree on.

    Multi-group adaptive graph representation. Every group v of features has a graph :math:`S^v`
    over the n samples; a common graph S is learned near their mixture, with weights
    :math:`w_{vi}` of its own for every sample. Meanwhile X is rebuilt from few of its columns,
    smoothly on S:

    .. math:: \sum_i \|S_{:i} - \sum_v w_{vi} S^v_{:i}\|^2 + \|X - XZ\|_F^2
              + \alpha\,\mathrm{tr}(Z^\top X^\top L_S X Z) + \gamma \|Z\|_{2,1}

    and the score of a feature is the squared norm of its row of Z.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        How many. None takes half of the features that vary.
    groups : array-like of shape (n_features,), list of lists, mapping or None, default=None
        The groups: one label per feature, or the members of every group as names or places. Every
        feature that varies must be in one. None cuts the table into ``n_groups`` blocks.
    n_groups : int or "auto", default="auto"
        Without ``groups``: blocks of neighbouring columns, of equal size but for one, that the
        features that vary are cut into in the order they came. "auto" is 10, or half the number of
        these features if that is less. The order of the columns matters here.
    smoothness_weight : float, default=0.1
        :math:`\alpha`, weight of the smoothness of the rebuilt samples on the common graph.
    sparsity_weight : float, default=0.1
        :math:`\gamma`, weight of the sum of the norms of Z's rows.
    kernel_width : float, default=100.0
        :math:`\sigma` of all graphs, :math:`\exp(-\|x_i - x_j\|^2 / \sigma)`. Squared distances of
        standardised samples average twice the number of features of the group: a width far below
        that leaves samples without neighbours, one far above makes all neighbours alike.
    max_iter : int, default=10
        Most rounds of updating weights, graph and Z.
    max_inner_iter : int, default=10
        Most steps of reweighted least squares for Z within a round.
    tol : float, default=1e-4
        Rounds, and steps within a round, end early once the norms of Z's rows, taken as one vector,
        move by less than this share of its length. 0 takes all of them.
    standardize : bool, default=True
        Whether every feature gets unit variance.
    device : str or torch.device, default="auto"
        "auto" is CUDA if there is one, else the CPU. Needs double precision, so not "mps".
    verbose : int, default=0
        Whether to show a progress bar.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Squared norms of the rows of Z; ``-inf`` for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of every feature, 1 is best.
    groups_ : list of ndarray
        Places of the features of every group, in the order the groups were given.
    group_weights_ : ndarray of shape (n_groups,)
        :math:`w_{vi}`, mean over the samples; they sum to one and may be negative. Zero for groups
        without a feature that varies, which have no graph.
    n_iter_ : int
        Rounds that were run.
    converged_ : bool
        Whether the last round moved Z by less than ``tol``.
    objective_ : ndarray of shape (n_iter_,)
        The objective after every round. Updates of the weights and of Z never raise it; the
        authors' rule for S, kept here, may.

    Notes
    -----
    Z starts with all entries equal to 1 / d. A round costs about :math:`n^2 (d + V^2)` for the
    graphs and, for each step of Z, :math:`n^2 d` if n < d and :math:`d^3` else.

    Groups' graphs are recomputed in blocks of rows, so memory does not grow with the number of
    groups. Beside 256 MiB for the blocks it is at most about :math:`8 (2 n^2 + 10 nd)` bytes for
    n >= d, which is 3 GiB for 12,000 samples of 784 features, and :math:`8 (6 n^2 + 10 nd)` for
    n < d.

    With standardised data :math:`\alpha/4` times the distances of rebuilt samples, of the order of
    :math:`\alpha d`, outweighs the entries of the groups' graphs, which are below one. Unless
    :math:`\alpha d` is small, groups and kernel width then hardly change the ranking.

    Examples
    --------
    >>> from groupfs.baselines import MGAGR
    >>> from groupfs.datasets import load_two_moons
    >>> X = load_two_moons(100, random_state=0).data
    >>> selector = MGAGR(5, groups=[range(5), range(5, 10), range(10, 20)]).fit(X)
    >>> selector.transform(X).shape, len(selector.group_weights_)
    ((100, 5), 3)
    """

    __module__ = "groupfs.baselines"

    _parameter_constraints: dict[str, list[Any]] = {
        **shared_constraints("n_features_to_select", "standardize", "device", "verbose"),
        "groups": ["array-like", Mapping, None],
        "n_groups": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "smoothness_weight": [Interval(Real, 0, None, closed="left")],
        "sparsity_weight": [Interval(Real, 0, None, closed="neither")],
        "kernel_width": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_inner_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        groups: Any = None,
        n_groups: Any = "auto",
        smoothness_weight: float = 0.1,
        sparsity_weight: float = 0.1,
        kernel_width: float = 100.0,
        max_iter: int = 10,
        max_inner_iter: int = 10,
        tol: float = 1e-4,
        standardize: bool = True,
        device: str | torch.device = "auto",
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.groups = groups
        self.n_groups = n_groups
        self.smoothness_weight = smoothness_weight
        self.sparsity_weight = sparsity_weight
        self.kernel_width = kernel_width
        self.max_iter = max_iter
        self.max_inner_iter = max_inner_iter
        self.tol = tol
        self.standardize = standardize
        self.device = device
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the graph and the reconstruction; ``y`` is ignored."""
        device = _double_precision(resolve_device(self.device))
        if self.groups is not None:
            check_places(self.groups, X)
        table = self._check_table(X, self.standardize)
        members = self._members(table)
        places = np.full(self.n_features_in_, -1)
        places[table.columns] = np.arange(len(table.columns))
        inside = [places[group][places[group] >= 0] for group in members]

        table.rows.to(device, torch.float64)
        matrix = table.rows.take(torch.arange(table.rows.shape[0]))
        with _progress(self.max_iter, bool(self.verbose)) as report:
            solution = solve(
                matrix,
                [matrix[:, group] for group in inside if len(group)],
                alpha=float(self.smoothness_weight),
                gamma=float(self.sparsity_weight),
                sigma=float(self.kernel_width),
                max_iter=self.max_iter,
                max_inner_iter=self.max_inner_iter,
                tol=float(self.tol),
                report=report,
            )
        self.groups_ = members
        self.group_weights_ = np.zeros(len(members))
        self.group_weights_[[len(group) > 0 for group in inside]] = solution.weights.cpu()
        self.objective_ = np.array(solution.objective)
        self.n_iter_ = len(solution.objective)
        self.converged_ = solution.converged
        self._rank(table, solution.row_norms.square().cpu().numpy(), self._budget(table))
        return self

    def _members(self, table: Table) -> list[NDArray[np.int64]]:
        """Places of the features of every group."""
        varying = np.sort(table.columns)
        if self.groups is None:
            return list(np.array_split(varying, self._n_blocks(len(varying))))
        labels, names = parse_groups(self.groups, table.names)
        alone = varying[labels[varying] < 0]
        if len(alone):
            shown = ", ".join(table.names[i] for i in alone[:5])
            raise ValueError(
                f"{len(alone)} feature(s) are in no group ({shown}{' ...' * (len(alone) > 5)}); "
                "MGAGR needs all that vary in one: put them into a further group or leave them out "
                "of X."
            )
        return [np.flatnonzero(labels == group) for group in range(len(names))]

    def _n_blocks(self, n_features: int) -> int:
        if self.n_groups == "auto":
            return min(AUTO_GROUPS, max(1, n_features // 2))
        if self.n_groups > n_features:
            raise ValueError(
                f"n_groups={self.n_groups} but X has {n_features} features that vary; a group "
                f'needs at least one, so choose at most {n_features} or "auto".'
            )
        return int(self.n_groups)


def _double_precision(device: torch.device) -> torch.device:
    if device.type == "mps":
        raise ValueError(
            'device="mps" has no double precision, which MGAGR needs; choose "cpu" or "auto".'
        )
    return device


@contextmanager
def _progress(n_rounds: int, shown: bool) -> Iterator[Callable[[float], None]]:
    """A bar over the rounds with the objective; nothing is imported or drawn unless asked for."""
    if not shown:
        yield lambda objective: None
        return
    from tqdm import tqdm

    with tqdm(total=n_rounds, desc="MGAGR", unit="round") as bar:

        def advance(objective: float) -> None:
            bar.set_postfix(objective=f"{objective:.6g}", refresh=False)
            bar.update()

        yield advance
