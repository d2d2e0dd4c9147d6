"""The oracle: the equations of the method, one model at a time, float64, literal and slow.

Written in torch only so that autograd gives the gradients; nothing here is shared with the library.
"""

import math

import numpy as np
import torch


def self_tuning_affinity(points, n_neighbors, detach_bandwidth=False):
    """W_ij = exp(-||x_i - x_j||^2 / (g_i g_j)), rows of ``points`` are the points."""
    n = len(points)
    squared = torch.stack(
        [torch.stack([((points[i] - points[j]) ** 2).sum() for j in range(n)]) for i in range(n)]
    )
    bandwidths = []
    for i in range(n):
        others = torch.cat([squared[i, :i], squared[i, i + 1 :]])
        bandwidths.append(torch.sqrt(torch.sort(others).values[n_neighbors - 1]))
    g = torch.stack(bandwidths)
    if detach_bandwidth:
        g = g.detach()
    return torch.exp(-squared / (g[:, None] * g[None, :]))


def random_walk(W):
    return torch.diag(1 / W.sum(1)) @ W


def laplacian(W):
    scale = torch.diag(1 / torch.sqrt(W.sum(1)))
    return torch.eye(len(W), dtype=W.dtype) - scale @ W @ scale


def sample_loss(X, feature_weights, n_neighbors, steps, detach_bandwidth):
    B, d = X.shape
    gated = X * feature_weights
    P = random_walk(self_tuning_affinity(gated, n_neighbors, detach_bandwidth))
    return -torch.trace(gated.T @ torch.linalg.matrix_power(P, steps) @ gated) / (B * d)


def affinity_of_distances(squared, n_neighbors):
    """W_ij = exp(-d_ij^2 / (g_i g_j)), from squared distances."""
    kth = torch.stack([row.sort().values[n_neighbors] for row in torch.as_tensor(squared)])
    return torch.exp(-torch.as_tensor(squared) / torch.sqrt(kth[:, None] * kth[None, :]))


def cosine_affinity(points, n_neighbors):
    """Self-tuning affinities with 2 - 2 cos in place of the squared distance."""
    n = len(points)
    squared = torch.zeros(n, n, dtype=points.dtype)
    for i in range(n):
        for j in range(n):
            length = torch.sqrt((points[i] ** 2).sum() * (points[j] ** 2).sum())
            squared[i, j] = 2 - 2 * (points[i] @ points[j]) / length if i != j else 0
    return affinity_of_distances(squared, n_neighbors)


def ranks(X):
    """Number of values below plus half of the equal ones, centred, with variance one."""
    X = np.asarray(X)
    counts = [
        [(X[:, k] < x).sum() + (X[:, k] == x).sum() / 2 for x in X[:, k]] for k in range(X.shape[1])
    ]
    found = np.array(counts).T
    return torch.from_numpy((found - found.mean(0)) / found.std(0))


def gated_laplacian_loss(X, gates, mu, n_neighbors, sigma, penalty):
    """DUFS: the ratio of the two terms where ``penalty`` is None, else their weighted sum."""
    score = sample_loss(X, gates, n_neighbors, 2, detach_bandwidth=False)
    is_open = 0.5 * (1 + torch.erf(mu / (sigma * math.sqrt(2))))
    reg = is_open.mean()
    return score / (reg + 1e-6) if penalty is None else score + penalty * reg


def feature_loss(M, Q, L, beta):
    d, C = M.shape
    F = M @ Q
    F = F - F.mean(0)
    F = F / torch.sqrt((F**2).sum(0))
    orthogonality = ((F.T @ F - torch.eye(C, dtype=F.dtype)) ** 2).sum()
    return (torch.trace(F.T @ L @ F) + beta * orthogonality) / (d * C)


def sparsity_loss(mu, M, sigma):
    d, C = M.shape
    total = 0.0
    for j in range(C):
        is_open = 0.5 * (1 + torch.erf(mu[j] / (sigma * math.sqrt(2))))
        total = total + is_open * M[:, j].sum() / d
    return total / C


def total_loss(parameters, X, L, noise, settings):
    """L = L_s + lambda1 L_f + lambda2 L_reg for parameters (log pi, mu, Q), each term apart too."""
    logits, mu, Q = parameters
    gumbel, eps = noise
    M = torch.softmax((logits + gumbel) / settings["temperature"], dim=1)
    z = torch.clip(mu + eps, 0, 1)
    terms = (
        sample_loss(
            X, M @ z, settings["n_neighbors"], settings["steps"], settings["detach_bandwidth"]
        ),
        feature_loss(M, Q, L, beta=1 / settings["lambda1"]),
        sparsity_loss(mu, M, settings["sigma"]),
    )
    total = terms[0] + settings["lambda1"] * terms[1] + settings["lambda2"] * terms[2]
    return total, terms


def distortion(L, labels, C):
    """E(C) = ||U R - Y||^2 for the given clusters of the features."""
    _, vectors = torch.linalg.eigh(L)
    U = vectors[:, :C]
    U = U / torch.sqrt((U**2).sum(1, keepdim=True))
    Y = torch.zeros(len(L), C, dtype=L.dtype)
    Y[torch.arange(len(L)), torch.as_tensor(labels)] = 1
    A, _, Bt = torch.linalg.svd(U.T @ Y)
    return float(((U @ (A @ Bt) - Y) ** 2).sum())


def own_graph_smoothness(X, n_neighbors, steps):
    """tr(X^T P^t X) / (B d) with P from X itself."""
    X = torch.as_tensor(X)
    P = random_walk(self_tuning_affinity(X, n_neighbors))
    return float(torch.trace(X.T @ torch.linalg.matrix_power(P, steps) @ X)) / np.prod(X.shape)


def strength(X, j):
    """Mean of the three largest abs(r) of column j with others."""
    others = [abs(np.corrcoef(X[:, j], X[:, k])[0, 1]) for k in range(X.shape[1]) if k != j]
    return float(np.mean(sorted(others)[-3:]))


def mutual_information(a, b):
    """Sum of p(i, j) log(p(i, j) / (p(i) p(j))) over the cells of two partitions."""
    total = 0.0
    for i in set(a.tolist()):
        for j in set(b.tolist()):
            both = np.mean((a == i) & (b == j))
            if both > 0:
                total += both * math.log(both / (np.mean(a == i) * np.mean(b == j)))
    return total


def found_again(halves, groups, j):
    """What pairs of halves (2 S, m) find of group j of (m,): Jaccard index, and every feature."""
    own, found = groups == j, []
    for communities in halves:
        sizes = [(np.sum((communities == c) & own), -c) for c in range(len(own))]
        shared, c = max(sizes)
        inside = communities == -c
        others = [(np.sum(inside & (groups == k)), -k) for k in range(len(own))]
        found.append(inside if shared and max(others)[1] == -j else np.zeros(len(own), dtype=bool))
    jaccard = [(half & own).sum() / (half | own).sum() for half in found]
    pairs = [min(pair) for pair in zip(jaccard[::2], jaccard[1::2], strict=True)]
    return np.mean(pairs), np.where(own, np.mean(found, axis=0), 0)


def modularity(W, labels, resolution):
    """How far ties are within communities, beyond ties in proportion to both strengths."""
    k, total = W.sum(1), W.sum()
    within = [
        W[i, j] - resolution * k[i] * k[j] / total
        for i in range(len(W))
        for j in range(len(W))
        if labels[i] == labels[j]
    ]
    return sum(within) / total


def cohesion(X, group):
    """Largest eigenvalue of a group's correlations above one, over the Marchenko-Pastur edge's."""
    values = np.linalg.eigvalsh(np.corrcoef(X[:, group].T))
    edge = (1 + math.sqrt(len(group) / len(X))) ** 2
    return (values[-1] - 1) / (edge - 1)


def with_rest(X, group, i):
    """Correlation of feature i with the other features, weighted by the group's first component."""
    r = np.corrcoef(X[:, group].T)
    weights = np.linalg.eigh(r)[1][:, -1]
    Z = (X[:, group] - X[:, group].mean(0)) / X[:, group].std(0)
    place = list(group).index(i)
    others = [k for k in range(len(group)) if k != place]
    return abs(np.corrcoef(Z[:, place], Z[:, others] @ weights[others])[0, 1])


def feature_smoothness(X, among, n_neighbors):
    """Mean over samples of x times its mean over neighbours, over the mean square, (d,).

    At least a tenth of the deviation of that by chance.
    """
    X = np.asarray(X, dtype=np.float64)
    W = self_tuning_affinity(torch.as_tensor(X[:, among]), n_neighbors).numpy().copy()
    np.fill_diagonal(W, 0)
    P = W / W.sum(1, keepdims=True)
    return np.maximum(
        (X * (P @ X)).sum(0) / (X * X).sum(0), 0.1 * math.sqrt(2 * (P * P).sum()) / len(X)
    )


def explained_share(X, weights, chosen):
    """Weighted mean of the R squared of all columns given the chosen ones."""
    X = np.asarray(X, dtype=np.float64)
    X = X - X.mean(0)
    coefficients, *_ = np.linalg.lstsq(X[:, chosen], X, rcond=1e-10)
    left = X - X[:, chosen] @ coefficients
    r2 = 1 - (left**2).sum(0) / (X**2).sum(0)
    return float(np.asarray(weights) @ r2 / np.sum(weights))


def explained_order(X, weights, candidates, n_picks):
    """Choose, again and again, the candidate with the largest share explained.

    When .95 is explained, all that have a weight count alike from then on.
    """
    chosen, weights = [], np.asarray(weights, dtype=np.float64)
    for _ in range(n_picks):
        if chosen and explained_share(X, weights, chosen) >= 0.95:
            weights = (weights > 0).astype(np.float64)
        shares = {
            s: explained_share(X, weights, [*chosen, s]) for s in candidates if s not in chosen
        }
        chosen.append(max(shares, key=shares.get))
    return chosen


def coverage_order(X, weights, candidates, n_picks):
    """Choose, again and again, the candidate with which nearest chosen columns are nearest."""
    r2 = np.corrcoef(np.asarray(X, dtype=np.float64), rowvar=False) ** 2
    chosen = []
    for _ in range(n_picks):
        covered = {
            s: np.asarray(weights) @ r2[:, [*chosen, s]].max(1)
            for s in candidates
            if s not in chosen
        }
        chosen.append(max(covered, key=covered.get))
    return chosen


def canonical_correlation(A, B):
    """First canonical correlation of two sets of columns without gaps, (n, a) and (n, b)."""

    def orthonormal(X):
        U, lengths, _ = np.linalg.svd(X - X.mean(0), full_matrices=False)
        return U[:, lengths > 1e-9 * max(lengths[0], 1e-300)]

    U, V = orthonormal(A), orthonormal(B)
    if not U.size or not V.size:
        return 0.0
    return float(np.linalg.svd(U.T @ V, compute_uv=False)[0])


def distance_correlation(x, y):
    """Squared distance correlation of two columns, from all n x n distances."""

    def centered(v):
        D = np.abs(v[:, None] - v)
        return D - D.mean(0) - D.mean(1)[:, None] + D.mean()

    A, B = centered(x), centered(y)
    return (A * B).mean() / np.sqrt((A * A).mean() * (B * B).mean())


def row_scores(Z, groups, centrality, signs, least_weight):
    """Scores of standardised rows, NaN in gaps: weighted means over the features a row has."""
    scores = np.full((len(Z), len(groups)), np.nan)
    for i in range(len(Z)):
        for j, group in enumerate(groups):
            weight = {k: centrality[k] for k in group}
            sign = {k: signs[k] for k in group}
            if sum(weight.values()) == 0:
                weight, sign = dict.fromkeys(group, 1.0), dict.fromkeys(group, 1.0)
            there = [k for k in group if not math.isnan(Z[i, k])]
            share = sum(weight[k] for k in there) / sum(weight.values())
            if there and share >= least_weight - 1e-9:
                total = sum(weight[k] for k in there)
                scores[i, j] = sum(sign[k] * weight[k] * Z[i, k] for k in there) / total
    return scores


def kept_score(X, signs, weights, chosen):
    """Correlation of the score of the chosen columns with that of all, row by row."""
    n, m = X.shape
    scores = np.zeros((2, n))
    for which, features in enumerate([chosen, range(m)]):
        for i in range(n):
            total = 0.0
            for k in features:
                z = (X[i, k] - X[:, k].mean()) / X[:, k].std()
                total += signs[k] * weights[k] * z
            scores[which, i] = total / sum(weights[k] for k in features)
    return np.corrcoef(scores)[0, 1]


def cronbach_alpha(X, signs, chosen):
    """m / (m - 1) (1 - sum of the variances / variance of the sum), of standardised columns."""
    m, Z = len(chosen), (X - X.mean(0)) / X.std(0)
    summed = sum(signs[k] * Z[:, k] for k in chosen)
    return m / (m - 1) * (1 - sum(Z[:, k].var() for k in chosen) / summed.var())


def mean_correlation(X, signs):
    """Mean correlation of pairs of columns, each turned by its sign, by the rows that both have."""
    found = []
    for j in range(X.shape[1]):
        for k in range(j):
            both = ~np.isnan(X[:, j]) & ~np.isnan(X[:, k])
            r = np.corrcoef(X[both, j], X[both, k])[0, 1]
            found.append(signs[j] * signs[k] * r)
    return float(np.mean(found))


def rest_correlation(X, signs, j, among):
    """Correlation of a column with the sum of the others among some, standardised and turned."""
    Z = (X - X.mean(0)) / X.std(0) * signs
    rest = sum(Z[:, k] for k in among if k != j)
    return float(np.corrcoef(Z[:, j] * signs[j], rest)[0, 1])
