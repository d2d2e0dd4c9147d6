"""Groups known beforehand are tested and ranked, and stay as they are."""

import numpy as np
import pytest

from groupfs import FeatureGroups
from groupfs.datasets import load_two_moons
from groupfs.metrics import selection_rates
from groupfs.utils.warn import SelectionWarning

LABELS = np.repeat(["moon x", "moon y", "noise a", "noise b"], 5)


@pytest.fixture(scope="module")
def moons():
    return load_two_moons(300, random_state=5)


@pytest.fixture(scope="module")
def fitted(moons):
    return FeatureGroups(groups=LABELS, random_state=0).fit(moons.data)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_groups_that_matter_are_kept(seed):
    data = load_two_moons(400, random_state=seed)
    selector = FeatureGroups(groups=LABELS, random_state=seed).fit(data.data)
    assert selection_rates(range(10), selector.get_support(indices=True)) == (1.0, 0.0)
    assert selector.group_kept_.sum() == 2
    assert set(selector.group_names_[:2]) == {"moon x", "moon y"}


@pytest.mark.slow
def test_groups_are_those_given(fitted):
    for name, group in zip(fitted.group_names_, fitted.groups_, strict=True):
        np.testing.assert_array_equal(group, np.flatnonzero(name == LABELS))
    (level,) = fitted.levels_
    assert level.agreement is None and fitted.group_replication_ is None
    assert fitted.feature_stability_ is None


@pytest.mark.slow
def test_equal_columns_stay_in_the_groups_they_were_given(moons):
    X = np.column_stack([moons.data, moons.data[:, 0]])
    selector = FeatureGroups(groups=[*LABELS, "copy"], random_state=0).fit(X)
    copy = selector.groups_[selector.group_names_.index("copy")]
    assert copy.tolist() == [20]


def test_single_features_are_kept_by_the_rule_of_all_groups(moons):
    with pytest.warns(SelectionWarning, match="No group stands out"):
        selector = FeatureGroups(groups=np.arange(20), random_state=0).fit(moons.data)
    assert (selector.group_pvalues_ == 1).all() and not selector.get_support().any()
    assert selector.select(n_groups_to_select=3).groups.tolist()[:4] == [True] * 3 + [False]


@pytest.mark.slow
def test_shuffled_groups_do_not_stand_out(rng):
    X = rng.standard_normal((200, 20))
    with pytest.warns(UserWarning, match="No group stands out"):
        selector = FeatureGroups(groups=LABELS, random_state=0).fit(X)
    assert selector.group_pvalues_.min() > 1e-3


@pytest.mark.slow
def test_constant_columns_leave_their_groups(moons):
    X = moons.data.copy()
    X[:, 15:] = 1.0
    with pytest.warns(UserWarning, match="5 constant columns") as caught:
        selector = FeatureGroups(groups=LABELS, random_state=0).fit(X)
    assert caught[0].filename == __file__  # warnings point at the caller
    assert sorted(selector.group_names_) == ["moon x", "moon y", "noise a"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"groups": [[0, 1], [2, 3]]}, r"16 feature\(s\) of X are in none of the groups: x4, x5"),
        ({"groups": np.zeros(20)}, "1 group with features that vary"),
        ({"groups": LABELS, "n_groups": 3}, "both groups and n_groups=3"),
        ({"groups": LABELS[:5]}, "5 labels but X has 20 features"),
    ],
    ids=str,
)
def test_what_cannot_be_used_is_refused(moons, parameters, message):
    with pytest.raises(ValueError, match=message):
        FeatureGroups(**parameters).fit(moons.data)
