import numpy as np
import pytest
import torch

from groupfs.data.rows import DenseRows
from groupfs.graphs.eigenvectors import leading_eigenvectors
from groupfs.graphs.feature_clusters import as_groups, cluster_features
from groupfs.graphs.feature_graph import feature_walk
from groupfs.scoring.excess import score_on_rows
from groupfs.scoring.significance import (
    FINAL_SHUFFLES,
    chance_scores,
    discoveries,
    group_p_values,
    tail_p_values,
)
from tests.support.walks import standardised

CPU = torch.device("cpu")
NOISE = {
    "few samples": lambda rng: rng.standard_normal((40, 60)),
    "heavy tails": lambda rng: rng.standard_cauchy((100, 20)),
    "binary": lambda rng: (rng.random((120, 24)) < 0.3).astype(float),
}


def find_and_test_groups(X, seed):
    """Find 8 groups as a fit starts from them; return their p-values and sizes."""
    rows = DenseRows(standardised(X))
    rows.to(CPU, torch.float32)
    labels = cluster_features(
        leading_eigenvectors(feature_walk(rows, 7, None), 8), 8, np.random.default_rng(seed)
    )
    groups = as_groups(labels, 8)
    sizes = np.array([len(group) for group in groups])
    graph = {"n_neighbors": 7, "steps": 2, "seed": seed}
    scores = score_on_rows(rows, groups, n_shuffles=FINAL_SHUFFLES, **graph)
    chance = chance_scores(rows, 8, None, n_kept=None, device=CPU, dtype=torch.float32, **graph)
    return group_p_values(scores, sizes, chance), sizes


@pytest.mark.slow
@pytest.mark.parametrize("kind", NOISE)
def test_p_values_are_not_fooled_by_looking_for_groups(kind):
    # Compared with shuffles of themselves alone, groups found in noise look far from chance (z of
    # ten and more with 40 samples); with a normal tail a quarter of the Cauchy tables would give
    # a discovery. At level 0.01 hardly one of eight tables may.
    tables_with_discoveries, p_values = 0, []
    for seed in range(8):
        p, sizes = find_and_test_groups(NOISE[kind](np.random.default_rng(seed)), seed)
        tables_with_discoveries += discoveries(p, 0.01).any()
        p_values.extend(p[sizes > 1])
    assert tables_with_discoveries <= 1
    assert np.mean(np.array(p_values) < 0.05) < 0.12


def test_tail_p_values_fall_with_the_score_and_stay_cautious(rng):
    chance = rng.standard_normal(40)
    p = tail_p_values(np.array([-3.0, 0.5, 2.0, 4.0, 50.0]), chance)
    assert (np.diff(p) <= 0).all() and p[0] == 1
    assert p[2] > 0.02 and p[3] > 1e-3 and p[4] < 1e-4
    assert (tail_p_values(np.array([1.0, 9.0]), np.zeros(5)) > 0).all()


def test_discoveries_follow_benjamini_and_hochberg():
    p = np.array([0.001, 0.04, 0.03, 0.9])
    # sorted: .001 <= .0125, .03 > .025, .04 > .0375
    assert discoveries(p, 0.05).tolist() == [True, False, False, False]
    # a later one that passes takes the earlier ones with it
    assert discoveries(np.array([0.03, 0.03, 0.03]), 0.03).all()
    assert not discoveries(np.ones(3), 0.05).any()
