from types import SimpleNamespace

import numpy as np
import pytest

from groupfs.selection.ungrouped import Ungrouped, ungrouped_features


def found(labels, p_values):
    return SimpleNamespace(
        group_labels_=np.array(labels),
        relatedness_pvalues_=None if p_values is None else np.array(p_values),
    )


def test_features_without_a_group_are_constant_unrelated_or_loose():
    nan = float("nan")
    outside = ungrouped_features(found([0, 0, -1, -1, -1], [1e-9, 1e-9, nan, 0.7, 1e-9]))
    assert outside.constant.tolist() == [2]
    assert outside.unrelated.tolist() == [3]
    assert outside.loose.tolist() == [4]
    assert outside.counts == {"constant": 1, "unrelated": 1, "loose": 1}


def test_where_all_features_take_part_only_constant_ones_have_no_group():
    outside = ungrouped_features(found([0, -1, 0], None))
    assert outside.counts == {"constant": 1, "unrelated": 0, "loose": 0}


@pytest.mark.parametrize(
    ("constant", "unrelated", "loose", "words"),
    [
        (0, 0, 0, None),
        (1, 0, 0, "1 feature is constant."),
        (0, 1, 0, "1 feature goes with no other beyond chance (unrelated)."),
        (
            2,
            3,
            1,
            "3 features go with no other beyond chance (unrelated), 1 is near to no group (loose) "
            "and 2 are constant.",
        ),
    ],
)
def test_they_are_told_in_one_sentence(constant, unrelated, loose, words):
    outside = Ungrouped(np.arange(constant), np.arange(unrelated), np.arange(loose))
    assert outside.sentence == words
