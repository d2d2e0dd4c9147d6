"""MGAGR: blocks of columns, one sample graph per block, a sparse reconstruction of X."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from groupfs.baselines import mgagr_solver as solver
from groupfs.baselines.base import RankingSelector, Table, parameter
from groupfs.utils.device import resolve_device
from groupfs.utils.sklearn_compat import COUNT, NOT_NEGATIVE, POSITIVE, StrOptions
from groupfs.utils.types import TorchDevice

#: Keeps Q finite where a row of Z is zero; the steps use its inverse, which always is.
TINY = 1e-15


@dataclass(eq=False, repr=False, kw_only=True)
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
    n_groups : int or "auto", default="auto"
        Blocks of neighbouring columns, of equal size but for one, that the features that vary are
        cut into in the order they came. "auto" is 10, or half the number of these features if that
        is less. The order of the columns matters here.
    smoothness_weight : float, default=0.1
        :math:`\alpha`, weight of the smoothness of the rebuilt samples on the common graph.
    sparsity_weight : float, default=0.1
        :math:`\gamma`, weight of the sum of the norms of Z's rows.
    kernel_width : float, default=100.0
        :math:`\sigma` of all graphs, :math:`\exp(-\|x_i - x_j\|^2 / \sigma)`. Squared distances of
        standardised samples average twice the number of features of the group: a width far below
        that leaves samples without neighbours, one far above makes all neighbours alike.
    max_iter, max_inner_iter : int, default=10
        Most rounds of updating weights, graph and Z; most steps for Z within a round.
    tol : float, default=1e-4
        Rounds, and steps within a round, end early once the norms of Z's rows, taken as one vector,
        move by less than this share of its length. 0 takes all of them.
    standardize, device
        As in :class:`groupfs.GroupFS`; double precision is needed, which "mps" does not have.

    Attributes
    ----------
    groups_ : list of ndarray
        Indices of the features of every group.
    group_weights_ : ndarray of shape (n_groups,)
        :math:`w_{vi}`, mean over the samples; they sum to one and may be negative.
    n_iter_, converged_ : int, bool
        Rounds that were run, and whether the last one moved Z by less than ``tol``.
    objective_ : ndarray of shape (n_iter_,)
        The objective after every round. Updates of the weights and of Z never raise it; the
        authors' rule for S, kept here, may.

    Notes
    -----
    A round costs about :math:`n^2 (d + V^2)` for the graphs and, for each step of Z, :math:`n^2 d`
    if n < d and :math:`d^3` else; memory is some :math:`8 (6 n^2 + 10 nd)` bytes.

    With standardised data :math:`\alpha/4` times the distances of rebuilt samples, of the order of
    :math:`\alpha d`, outweighs the entries of the groups' graphs, which are below one. Unless
    :math:`\alpha d` is small, groups and kernel width then hardly change the ranking.

    Examples
    --------
    >>> from groupfs.baselines import MGAGR
    >>> from groupfs.datasets import load_two_moons
    >>> X = load_two_moons(100, random_state=0).data
    >>> selector = MGAGR(5, n_groups=4).fit(X)
    >>> selector.transform(X).shape, len(selector.group_weights_)
    ((100, 5), 4)
    """

    n_groups: int | str = parameter("auto", COUNT, StrOptions({"auto"}))
    smoothness_weight: float = parameter(0.1, NOT_NEGATIVE)
    sparsity_weight: float = parameter(0.1, POSITIVE)
    kernel_width: float = parameter(100.0, POSITIVE)
    max_iter: int = parameter(10, COUNT)
    max_inner_iter: int = parameter(10, COUNT)
    tol: float = parameter(1e-4, NOT_NEGATIVE)
    standardize: bool = parameter(True, "boolean")
    device: str | torch.device = parameter("auto", str, TorchDevice)

    def _fit_table(self, table: Table) -> None:
        device, d = resolve_device(self.device), len(table.columns)
        if device.type == "mps":
            raise ValueError(
                'device="mps" has no double precision, which MGAGR needs; choose "cpu" or "auto".'
            )
        n_blocks = min(10, max(1, d // 2)) if self.n_groups == "auto" else int(self.n_groups)
        if n_blocks > d:
            raise ValueError(
                f"n_groups={self.n_groups} but X has {d} features that vary; a group needs at "
                f'least one, so choose at most {d} or "auto".'
            )
        self.groups_ = np.array_split(np.sort(table.columns), n_blocks)
        table.rows.to(device, torch.float64)
        X = table.rows.take(torch.arange(table.rows.shape[0]))
        blocks = np.array_split(np.argsort(table.columns), n_blocks)
        norms = self._solve(X, [X[:, block] for block in blocks])
        self._rank(table, norms.square().cpu().numpy())

    def _solve(self, X: Tensor, parts: list[Tensor]) -> Tensor:
        r"""Minimise over w, S and Z in turn; return the norms of Z's rows, (d,).

        X is (n, d), and its columns by group are V of (n, d_v). Nothing here needs Z itself, only
        the norms of its rows and distances between rows of XZ. Both stay as they are when Z is
        rotated from the right, so with n < d the target X is replaced by the square T of
        :math:`X = TO`, O having orthonormal rows, and Z has n columns instead of d.
        """
        n, d = X.shape
        alpha, gamma = float(self.smoothness_weight), float(self.sparsity_weight)
        make_step = solver.push_through_step if n < d else solver.direct_step
        T = X if n >= d else torch.linalg.qr(X.T, mode="r").R.T.contiguous()
        graphs, whole = (solver.GroupGraphs(own, float(self.kernel_width)) for own in (parts, [X]))
        S = torch.cat([whole.rows(block).squeeze(1) for block in whole.blocks()])
        # all of Z is 1 / d at the start, and one column has the distances of XZ
        Y, norms = X.sum(1, keepdim=True) / d**0.5, X.new_full((d,), d**-0.5)
        objective: list[float] = []
        self.converged_ = False
        while len(objective) < self.max_iter and not self.converged_:
            weights, misfit = solver.update_graph(S, graphs, Y, alpha)
            at_start, step = norms, make_step(X, T, S, alpha, gamma)
            for _ in range(self.max_inner_iter):
                Z = step(2 * norms + TINY)
                previous, norms = norms, Z.norm(dim=1)
                if self._has_converged(norms, previous):
                    break
            Y = X @ Z
            roughness = (Y * solver.laplacian(S, Y)).sum()
            value = misfit + (T - Y).square().sum() + alpha * roughness + gamma * norms.sum()
            if not torch.isfinite(value):
                raise ValueError(solver.OUT_OF_RANGE)
            objective.append(float(value))
            self.converged_ = self._has_converged(norms, at_start)
        self.group_weights_ = weights.cpu().numpy()
        self.objective_, self.n_iter_ = np.array(objective), len(objective)
        return norms

    def _has_converged(self, norms: Tensor, previous: Tensor) -> bool:
        return bool((norms - previous).norm() < float(self.tol) * norms.norm())
