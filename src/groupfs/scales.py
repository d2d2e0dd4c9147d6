r"""What a paper tells of groups as scales: alpha, omega, their intervals, loadings, correlations.

Axes: m features of a group, d features, C groups, n rows.

All of it follows from correlations that turn reversed features round (:mod:`groupfs.groups.Items`).
McDonald's omega is that of one factor by maximum likelihood, with loadings :math:`\lambda` and
uniquenesses :math:`\psi` of standardised features:
:math:`\omega = (\sum \lambda)^2 / ((\sum \lambda)^2 + \sum \psi)`.
"""

from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np

from groupfs.groups import Groups, Items
from groupfs.utils.types import FloatArray

#: Intervals cover the truth with this probability.
COVERAGE = 0.95
#: Least uniqueness of a feature; steps of the likelihood, at most, and gradient at its maximum.
LEAST_UNIQUE, MOST_STEPS, FLAT = 0.005, 100, 1e-9
#: Correlation of two scales that is as high as can be told apart, and least reliability.
MOST_ALIKE, LEAST_RELIABLE = 0.95, 0.05


@dataclass(frozen=True)
class Scales:
    """Figures of groups as scales; NaN where there is none, as of single features."""

    groups: Groups

    @cached_property
    def items(self) -> Items:
        """What was measured of the features; NaN throughout where nothing was."""
        C, d = len(self.groups), len(self.groups.labels)
        unknown = np.full(C, np.nan)
        return self.groups.items or Items(
            alpha=unknown,
            item_rest=np.full(d, np.nan),
            n_rows=unknown,
            score_mean=unknown,
            score_sd=unknown,
            within=[np.zeros((0, 0))] * C,
            with_scores=np.zeros((0, C)),
            between_scores=np.full((C, C), np.nan),
        )

    @property
    def alpha(self) -> FloatArray:
        """Cronbach's alpha of the sum of the standardised features, (C,)."""
        return self.items["alpha"]

    @cached_property
    def alpha_interval(self) -> FloatArray:
        """Lower and upper end of alpha, (C, 2)."""
        sizes, n = self.groups.sizes, self.items["n_rows"]
        pairs = zip(self.alpha.tolist(), sizes.tolist(), n.tolist(), strict=True)
        return np.array([alpha_interval(*of) for of in pairs]).reshape(-1, 2)

    @cached_property
    def _factors(self) -> list[tuple[FloatArray, FloatArray] | None]:
        return [one_factor(R) if len(R) > 1 else None for R in self.items["within"]]

    @cached_property
    def omega(self) -> FloatArray:
        """McDonald's omega, (C,); NaN for groups of many features."""
        return np.array([np.nan if of is None else omega(*of) for of in self._factors])

    @cached_property
    def omega_interval(self) -> FloatArray:
        """Lower and upper end of omega, (C, 2)."""
        found = self.alpha_interval * np.nan
        for j, of in enumerate(self._factors):
            if of is not None:  # of two features omega is alpha
                is_pair, n = len(of[0]) == 2, float(self.items["n_rows"][j])
                found[j] = self.alpha_interval[j] if is_pair else omega_interval(*of, n)
        return found

    @property
    def item_rest(self) -> FloatArray:
        """Correlation of every feature with the sum of the others of its group, (d,)."""
        return self.items["item_rest"]

    @cached_property
    def _reliability(self) -> FloatArray:
        of = np.where(np.isnan(self.omega), self.alpha, self.omega)
        return np.clip(np.where(np.isnan(of), 1, of), LEAST_RELIABLE, 1)

    @property
    def correlations(self) -> FloatArray:
        """Correlations of the scores of the groups as they are, (C, C)."""
        return self.items["between_scores"]

    @cached_property
    def disattenuated(self) -> FloatArray:
        """Correlations of what the scores measure, those observed over the roots of omega, (C, C).

        Of groups without omega alpha takes its place. Above 1 where reliabilities are too low.
        """
        root = np.sqrt(self._reliability)
        found = self.correlations / np.outer(root, root)
        np.fill_diagonal(found, 1)
        return found

    @cached_property
    def loadings(self) -> FloatArray:
        """Loadings of every feature on the factors of all groups, (d, C); (0, C) if there are many.

        A plain member of one group has 0 on the others, however much the groups have in common: its
        correlations with what the scores measure are brought to regression weights (the pattern of
        the multiple-group method). That of one alone with its own group is its factor loading.
        """
        structure = self.items["with_scores"] / np.sqrt(self._reliability)
        if not structure.size:
            return structure
        for j, (members, of) in enumerate(zip(self.groups.members, self._factors, strict=True)):
            if of is not None:
                structure[members, j] = of[0] * self.groups.signs[members]
        alike = np.clip(self.disattenuated, -MOST_ALIKE, MOST_ALIKE)
        np.fill_diagonal(alike, 1)
        lowest = np.linalg.eigvalsh(alike)[0]
        if lowest < 1 - MOST_ALIKE:  # three that are much alike need not be correlations of any
            lifted = alike + (1 - MOST_ALIKE - lowest) * np.eye(len(alike))
            alike = lifted / (2 - MOST_ALIKE - lowest)
        return structure @ np.linalg.inv(alike)


def alpha_interval(alpha: float, m: int, n: float) -> tuple[float, float]:
    """Return the ends of alpha of m features in n rows (Feldt: its ratio to the truth is an F)."""
    if m < 2 or n < 2 or np.isnan(alpha):
        return np.nan, np.nan
    beside, freedom = (1 - COVERAGE) / 2, (n - 1, (n - 1) * (m - 1))
    from scipy.special import fdtri  # slow to import, and pages need it not

    low, high = fdtri(*freedom, [1 - beside, beside])
    return 1 - (1 - alpha) * low, 1 - (1 - alpha) * high


def one_factor(R: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Fit one factor by maximum likelihood: loadings and uniquenesses, (m,) each.

    The likelihood, with the loadings that are best given :math:`\psi`, is climbed in the logarithm
    of :math:`\psi` by steps of scoring, halved where they do not lead up. Two share theirs.
    """
    m = len(R)
    if m == 2:
        share = np.full(2, abs(R[0, 1]))
        return np.sqrt(share) * np.array([1, np.sign(R[0, 1])]), 1 - share
    lowest = np.log(LEAST_UNIQUE)
    unexplained = np.clip(1 / np.diagonal(np.linalg.pinv(R, hermitian=True)), LEAST_UNIQUE, 1)
    log_psi = np.log(unexplained * (1 - 1 / (2 * m)))
    values, vectors, loss = _scaled(R, log_psi)
    for _ in range(MOST_STEPS):
        gradient = np.square(vectors[:, :-1]) @ (1 - values[:-1])
        free = (log_psi > lowest) | (gradient < 0)
        if np.abs(gradient[free]).max(initial=0) < FLAT:
            break
        curvature = np.square(np.eye(m) - np.outer(vectors[:, -1], vectors[:, -1]))
        step = np.zeros(m)
        step[free] = np.linalg.lstsq(curvature[np.ix_(free, free)], gradient[free], rcond=None)[0]
        for halving in range(20):
            tried = np.clip(log_psi - step / 2**halving, lowest, 0)
            found = _scaled(R, tried)
            if found[2] < loss:
                log_psi, (values, vectors, loss) = tried, found
                break
        else:  # no way up is left
            break
    top = vectors[:, -1] * np.sqrt(max(values[-1] - 1, 0))
    loadings = np.exp(log_psi / 2) * top
    return loadings * (1 if loadings.sum() >= 0 else -1), np.exp(log_psi)


def _scaled(R: FloatArray, log_psi: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Return eigenvalues and vectors of R scaled by uniquenesses, and the loss of one factor."""
    root = np.exp(-log_psi / 2)
    values, vectors = np.linalg.eigh(R * root * root[:, None])
    rest = np.maximum(values[:-1], 1e-12)
    return values, vectors, float(np.sum(rest - np.log(rest) - 1))


def omega(loadings: FloatArray, uniqueness: FloatArray) -> float:
    """Compute the share of the variance of the sum that is the factor's."""
    common = loadings.sum() ** 2
    return float(common / (common + uniqueness.sum()))


def omega_interval(loadings: FloatArray, uniqueness: FloatArray, n: float) -> tuple[float, float]:
    r"""Return the ends of omega in n rows, by the information of the likelihood.

    The gradient of omega is that with features brought to variance one, and the interval is taken
    of :math:`\log(1 - \omega)`, so that it stays below 1.
    """
    free = uniqueness > LEAST_UNIQUE * (1 + 1e-6)
    inverse = np.diag(1 / uniqueness)
    weighted = loadings / uniqueness
    inverse -= np.outer(weighted, weighted) / (1 + loadings @ weighted)
    along = inverse @ loadings
    mixed = inverse * along[None, :]
    of_loadings = inverse * (loadings @ along) + np.outer(along, along)
    information = np.block([[of_loadings, mixed], [mixed.T, np.square(inverse) / 2]])
    common, rest = loadings.sum(), uniqueness.sum()
    total = common**2 + rest
    by_loading, by_unique = 2 * common * rest / total**2, -(common**2) / total**2
    on_loadings = by_loading * (1 - loadings**2) - by_unique * 2 * loadings * uniqueness
    on_uniqueness = -by_loading * loadings / 2 + by_unique * loadings**2
    gradient = np.concatenate([on_loadings, on_uniqueness])
    known = np.append(np.ones(len(free), dtype=bool), free)
    part = np.ix_(known, known)
    variance = gradient[known] @ np.linalg.lstsq(information[part], gradient[known])[0] / n
    found = omega(loadings, uniqueness)
    error = NormalDist().inv_cdf((1 + COVERAGE) / 2) * np.sqrt(max(variance, 0)) / (1 - found)
    return 1 - (1 - found) * np.exp(error), 1 - (1 - found) * np.exp(-error)
