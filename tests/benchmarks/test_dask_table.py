import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from groupfs import GroupFS
from tests.support.sliced import streaming

pytest.importorskip("distributed")

from benchmarks.dask_table import found_in, planted_modules, planted_table  # noqa: E402


def test_chunks_are_the_same_whenever_they_are_made():
    X = planted_table(1005, 300)
    assert X.shape == (1005, 300) and X.chunks[0] == (100,) * 10 + (5,)
    whole = X.compute()
    assert whole.dtype == np.float32
    np.testing.assert_array_equal(X[:350].compute(), whole[:350])
    assert len(np.unique(whole[:, -1])) > 200


@pytest.mark.slow
def test_planted_modules_are_found_without_noise():
    with streaming():
        selector = GroupFS(20, n_init=1, max_epochs=2, random_state=0).fit(planted_table(3000, 120))
    found = found_in(selector, 120)
    assert found["ari"] == 1 and found["noise_in_groups"] == 0
    labels, _ = planted_modules(120)
    assert adjusted_rand_score(labels, selector.group_labels_) == 1
