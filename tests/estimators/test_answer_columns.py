"""A fit says so where answers are in words, or 99 stands for none."""

import numpy as np
import pandas as pd
import pytest

from groupfs import GroupFS
from groupfs.estimators.answer_columns import warn_of_answers
from groupfs.utils.warn import ColumnsWarning


def answers(n_people=200):
    rng = np.random.default_rng(0)
    trait = rng.standard_normal((n_people, 1))
    steps = np.digitize(trait + rng.standard_normal((n_people, 4)), [-1.5, -0.5, 0.5, 1.5])
    return pd.DataFrame(1 + steps, columns=list("abcd"))


def test_codes_for_no_answer_are_named_with_the_remedy():
    frame = answers()
    frame.iloc[::20] = 99
    with pytest.warns(ColumnsWarning, match=r"99 in 4 columns.*ColumnPreparer\(missing=\[99\]\)"):
        GroupFS(max_epochs=1, random_state=0).fit(frame)


def test_words_with_an_order_are_named():
    words = np.array(["never", "rarely", "sometimes", "often", "always"])
    frame = answers().apply(lambda column: words[column - 1])
    with pytest.warns(ColumnsWarning, match="4 columns .a, b, c, d.*'never' to 'always'"):
        warn_of_answers(frame)


@pytest.mark.filterwarnings("error")
def test_plain_answers_and_arrays_are_not_remarked_on():
    warn_of_answers(answers())
    warn_of_answers(answers().to_numpy())
