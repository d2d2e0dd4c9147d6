"""Scores of rows on groups: by hand, in Python, turned round, with columns missing."""

import numpy as np
import pandas as pd
import pytest

from groupfs import FeatureGroups, GroupFS
from groupfs.groups import Groups
from groupfs.utils.errors import ParameterError
from groupfs.utils.warn import ColumnsWarning


@pytest.fixture(scope="module")
def people():
    """Answers from 1 to 5 on two scales of five and four items, some reversed, with gaps."""
    rng = np.random.default_rng(5)
    factors = np.repeat(rng.standard_normal((600, 2)), [5, 4], axis=1)
    answers = np.clip(np.round(3 + factors + 0.8 * rng.standard_normal((600, 9))), 1, 5)
    answers[:, [1, 6]] = 6 - answers[:, [1, 6]]
    answers[rng.random(answers.shape) < 0.15] = np.nan
    names = [f"a{i}" for i in range(1, 6)] + [f"b{i}" for i in range(1, 5)]
    return pd.DataFrame(answers, columns=names, index=[f"p{i}" for i in range(600)])


@pytest.fixture(scope="module")
def selector(people):
    return FeatureGroups(random_state=0).fit(people)


def by_hand(selector, people, row, group):
    """The definition, answer by answer: no array arithmetic."""
    total = weight = there = 0.0
    for i in selector.groups_[group]:
        values = people.iloc[:, i].dropna()
        answer, central = people.iloc[row, i], selector.centrality_[i]
        weight += central
        if not np.isnan(answer):
            z = (answer - values.mean()) / values.std(ddof=0)
            total += selector.group_signs_[i] * central * z
            there += central
    return total / there if there >= 0.5 * weight else np.nan


def test_scores_of_twenty_rows_with_gaps_by_hand(selector, people):
    scores = selector.scores_frame(people)
    rows = np.flatnonzero(people.isna().any(axis=1))[:20]
    for row in rows:
        for group in range(2):
            literal = by_hand(selector, people, row, group)
            np.testing.assert_allclose(scores.iloc[row, group], literal, atol=1e-10)
    assert np.isnan(scores.to_numpy()).any()  # some answered less than half


def test_scores_frame_is_what_transform_gives_and_keeps_the_index(selector, people):
    array = FeatureGroups(output="scores", random_state=0).fit_transform(people)
    frame = selector.scores_frame(people)
    np.testing.assert_array_equal(frame, array)
    assert frame.index.equals(people.index)


def test_columns_in_another_order_and_others_beside_change_nothing(selector, people):
    other = people.assign(age=30.0)[["b2", "age", *people.columns.drop("b2")[::-1]]]
    pd.testing.assert_frame_equal(selector.scores_frame(other), selector.scores_frame(people))


def test_rows_are_scored_by_the_columns_that_are_there(selector, people):
    with pytest.warns(ColumnsWarning, match="lacks 1 column .*a3.*features that are there"):
        scores = selector.scores_frame(people.drop(columns="a3"))
    expected = selector.scores_frame(people.assign(a3=np.nan))
    pd.testing.assert_frame_equal(scores, expected)
    assert scores.notna().mean().min() > 0.9


def test_rows_without_the_column_of_categories_are_scored_by_the_others(people):
    levels = np.array(["low", "middle", "high"])
    words = people.assign(a5=levels[people["a5"].fillna(3).astype(int).clip(2, 4) - 2])
    fitted = FeatureGroups(random_state=0).fit(words)
    with pytest.warns(ColumnsWarning, match="lacks 1 column .*a5"):
        scores = fitted.scores_frame(people.drop(columns="a5"))
    expected = fitted.scores_frame(words.assign(a5=pd.Categorical([None] * 600, levels)))
    pd.testing.assert_frame_equal(scores, expected)


def test_a_group_that_is_nearly_gone_has_no_scores_and_is_named(selector, people):
    with pytest.warns(ColumnsWarning, match="less than 50% is left of group 2"):
        scores = selector.scores_frame(people.drop(columns=["b1", "b2", "b3"]))
    assert scores.iloc[:, 1].isna().all() and scores.iloc[:, 0].notna().any()


def test_least_says_how_much_of_a_group_a_row_must_have(selector, people):
    strict, any_answer = (selector.scores_frame(people, least=least) for least in (1, 0))
    complete = people.iloc[:, selector.groups_[0]].notna().all(axis=1)
    assert (strict.iloc[:, 0].notna() == complete).all()
    some = people.iloc[:, selector.groups_[0]].notna().any(axis=1)
    assert (any_answer.iloc[:, 0].notna() == some).all()
    with pytest.raises(ParameterError, match="least=2 is no share"):
        selector.scores_frame(people, least=2)


def test_scores_run_in_the_direction_of_the_item_in_their_name():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = np.repeat(rng.standard_normal((300, 4)), 4, 1) * np.tile([1, -1, 1, -1], 4)
        X += rng.standard_normal((300, 16))
        X[rng.random(X.shape) < 0.1] = np.nan
        table = pd.DataFrame(X).add_prefix("i")
        fitted = FeatureGroups(random_state=0).fit(table)
        assert (fitted.group_signs_[fitted.representatives_] == 1).all()
        for name, score in fitted.scores_frame(table).items():
            assert score.corr(table[name.split("_")[1]]) > 0.5


def test_names_of_scores_do_not_hang_on_the_seed_or_the_order_of_columns(people):
    names = set()
    for seed in range(4):
        columns = np.random.default_rng(seed).permutation(people.columns)
        fitted = FeatureGroups(random_state=seed).fit(people[columns])
        names.add(tuple(fitted.scores_frame(people)))
    assert len(names) == 1


def test_a_group_turned_towards_an_item_turns_its_scores_alone(selector, people):
    reversed_item = people.columns[np.flatnonzero(selector.group_signs_ < 0)[0]]
    group = selector.group_labels_[people.columns.get_loc(reversed_item)]
    turned = selector.towards(reversed_item)
    before, after = (of.scores_frame(people).to_numpy() for of in (selector, turned))
    np.testing.assert_array_equal(after[:, group], -before[:, group])
    np.testing.assert_array_equal(after[:, 1 - group], before[:, 1 - group])
    # the group is called after the item, wherever it is told of
    assert turned.scores_frame(people).columns[group] == f"group{group + 1}_{reversed_item}"
    assert turned.groups_frame()["representative"][group] == reversed_item
    one = FeatureGroups(n_per_group=1, random_state=0).fit(people).towards(reversed_item)
    assert one.get_support()[people.columns.get_loc(reversed_item)]
    assert selector.group_signs_[people.columns.get_loc(reversed_item)] == -1  # stays as it was


def test_a_turned_group_stays_turned_at_every_level_and_in_a_file(selector, people, tmp_path):
    from groupfs import persistence

    reversed_items = people.columns[selector.group_signs_ < 0]
    turned = selector.towards(*reversed_items)
    persistence.save(turned, tmp_path / "model.skops")
    loaded = persistence.load(tmp_path / "model.skops")
    for of in (turned, loaded, *(turned.at_level(one.n_groups) for one in turned.levels_)):
        assert (of.group_signs_[selector.group_signs_ < 0] == 1).all()


def test_turning_a_group_turns_its_categories_too():
    rng = np.random.default_rng(0)
    common = rng.standard_normal(500)
    table = pd.DataFrame({f"x{i}": common + 0.5 * rng.standard_normal(500) for i in range(4)})
    table["x0"] *= -1
    table["word"] = np.where(common + 0.5 * rng.standard_normal(500) > 0, "high", "low")
    table["words"] = np.select([common > 0.5, common < -0.5], ["up", "down"], "between")
    fitted = FeatureGroups(random_state=0).fit(table)
    against = "x0" if fitted.group_signs_[0] < 0 else "x1"
    turned = fitted.towards(against)
    np.testing.assert_allclose(turned.scores_frame(table), -fitted.scores_frame(table), atol=1e-12)


def test_directions_that_cannot_be_are_one_sentence(selector, people):
    with pytest.raises(ParameterError, match="there is no feature 'nobody'"):
        selector.towards("nobody")
    first = people.columns[selector.groups_[0]]
    signs = selector.group_signs_[selector.groups_[0]]
    with pytest.raises(ParameterError, match="run against each other; name one of them"):
        selector.towards(first[signs > 0][0], first[signs < 0][0])
    lonely = people.assign(alone=np.random.default_rng(1).standard_normal(len(people)))
    with pytest.raises(ParameterError, match="alone is in no group"):
        FeatureGroups(random_state=0).fit(lonely).towards("alone")


@pytest.mark.filterwarnings("ignore:All gates")
def test_the_published_method_scores_alike(people):
    filled = people.fillna(people.mean())
    fitted = GroupFS(max_epochs=5, n_groups=2, random_state=0).fit(filled)
    scores = fitted.scores_frame(filled)
    array = fitted.set_params(output="scores").transform(filled)
    np.testing.assert_array_equal(scores, array)
    np.testing.assert_allclose(Groups.of(fitted).items["score_sd"], scores.std(ddof=0))
