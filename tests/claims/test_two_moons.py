import numpy as np
import pytest

from groupfs.datasets import load_two_moons


@pytest.mark.parametrize("correlation", [0.6, 0.95, 1.0])
def test_columns_of_a_group_correlate_as_asked_and_all_have_unit_variance_and_names(correlation):
    moons = load_two_moons(20_000, 23, correlation=correlation, random_state=0)
    R = np.corrcoef(moons.data.T)
    for group in moons.groups:
        within = R[np.ix_(group, group)][np.triu_indices(5, 1)]
        # the share rho of the variance of each of two columns is common to them
        np.testing.assert_allclose(within, correlation, atol=0.02)
    assert np.abs(R[10:, :10]).max() < 0.05
    np.testing.assert_allclose(moons.data.std(0), 1, atol=0.05)
    assert len(moons.feature_names) == len(set(moons.feature_names)) == 23
    assert set(moons.target) == {0, 1}


@pytest.mark.parametrize("wrong", [{"n_features": 9}, {"correlation": 1.5}])
def test_impossible_tables_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        load_two_moons(**wrong)
