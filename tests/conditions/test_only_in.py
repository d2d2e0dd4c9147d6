"""Groups of single conditions: found, absent elsewhere, and compared with those of all rows."""

import numpy as np
import pandas as pd
import pytest

from groupfs import FeatureGroups, GroupFS
from groupfs.conditions import only_in
from tests.support.planted_groups import SIZE, known, planted


def table(seed=0, n=360):
    """Three groups and some noise; the third group is there in the last condition alone."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(["a", "b", "c"], n // 3)
    shared = np.full((n, 3), 0.5)
    shared[labels != "c", 2] = 0
    X = np.hstack([planted(shared, rng), rng.standard_normal((n, 5))])
    return pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])]), labels


@pytest.fixture(scope="module")
def result():
    X, labels = table()
    return only_in(FeatureGroups(random_state=0).fit(X), X, labels, n_permutations=199)


def test_the_group_of_one_condition_is_found_there_and_no_other_is(result):
    frame = result.to_frame()
    only = frame[frame["is_only_here"]]
    assert only["condition"].tolist() == ["c"]
    (j,) = np.flatnonzero(result.is_only_here)
    assert set(result.features[j]) == set(range(2 * SIZE, 3 * SIZE))
    assert set(frame["condition"]) == {"a", "b", "c"}
    assert only["highest_elsewhere"].item() < 0.2 < 0.4 < only["cohesion"].item()
    assert only["replication"].item() > 0.8


def test_groups_are_compared_with_those_of_all_rows(result):
    X, _ = table()
    selector = FeatureGroups(random_state=0).fit(X)
    for j, features in enumerate(result.features):
        index = [len({*features} & {*g}) / len({*features} | {*g}) for g in selector.groups_]
        assert result.jaccard[j] == pytest.approx(max(index))
        assert result.nearest_group[j] == 1 + int(np.argmax(index))


def test_a_group_that_is_there_everywhere_is_in_no_condition_alone(rng):
    X = planted(np.full((200, 3), 0.5), rng)
    labels = np.arange(200) % 2
    result = only_in(FeatureGroups(random_state=0).fit(X), X, labels, n_permutations=199)
    assert len(result.features) >= 4 and not result.is_only_here.any()
    elsewhere = result.absence_q_values[np.arange(len(result.features)), 1 - result.found_in]
    assert (elsewhere <= 0.05).all()


def test_selectors_that_find_no_groups_beyond_chance_are_refused(rng):
    X = planted(np.full((60, 2), 0.5), rng)
    with pytest.raises(ValueError, match="has known groups, so nothing else can be found"):
        only_in(known(X), X, np.arange(60) % 2)
    joint = GroupFS(n_groups=2, max_epochs=2, random_state=0).fit(X)
    with pytest.raises(ValueError, match="GroupFS does not tell which groups are beyond chance"):
        only_in(joint, X, np.arange(60) % 2)


@pytest.mark.filterwarnings("ignore:No feature is related to another")
def test_conditions_without_any_group_give_an_empty_table(rng):
    X = planted(np.full((120, 2), 0.5), rng)
    selector = FeatureGroups(random_state=0).fit(X)
    noise = rng.standard_normal(X.shape)
    result = only_in(selector, noise, np.arange(120) % 2, n_permutations=99)
    assert result.to_frame().shape == (0, 12)
