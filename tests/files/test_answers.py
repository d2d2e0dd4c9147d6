"""Answers in words with an order, and codes for no answer: known, given and suspected."""

import ast
import re

import numpy as np
import pandas as pd
import pytest

from groupfs.cli.errors import translate
from groupfs.files.codes import steps_and_codes
from groupfs.files.column_values import read_codes
from groupfs.files.columns import ColumnsError, Preparation, decide_columns

AGREEMENT = ["Strongly disagree", "disagree", "Neutral ", "AGREE", "strongly  agree"]


def column(words, n=40, seed=0):
    return np.random.default_rng(seed).choice(np.array(words, dtype=object), n)


def kinds(frame, **options):
    return [decision.kind for decision in decide_columns(frame, **options).columns]


@pytest.mark.parametrize(
    "words",
    [
        AGREEMENT,
        ["disagree strongly", "disagree a little", "neither agree nor disagree", "agree a little"],
        ["very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"],
        ["not at all", "a little", "moderately", "quite a bit", "extremely"],
        ["not at all", "several days", "more than half the days", "nearly every day"],
        ["1 - never", "2", "3", "4", "5 (always)"],
        ["1 = never", "2 = sometimes", "3 = always"],
        ["never", "sometimes", "about half the time", "most of the time", "always"],
        ["No", "yes"],
        ["Nein", "Ja"],
        ["no", "a veces", "sí"],
        ["nie", "selten", "manchmal", "oft", "immer"],
        ["nunca", "casi nunca", "a veces", "casi siempre", "siempre"],
        ["trifft gar nicht zu", "trifft eher nicht zu", "teils/teils", "Trifft eher zu"],
        ["Stimme nicht zu", "stimme eher nicht zu", "Stimme eher zu", "stimme voll und ganz zu"],
        ["Totalmente en desacuerdo", "en desacuerdo", "De acuerdo", "Totalmente de acuerdo"],
    ],
)
def test_common_wordings_are_numbers_in_their_order(words):
    answers = column(words)
    frame = pd.DataFrame({"q": answers, "x": np.arange(40.0) ** 2})
    preparation = decide_columns(frame)
    np.testing.assert_array_equal(
        preparation.apply(frame)[0]["q"], [1.0 + words.index(answer) for answer in answers]
    )
    assert f"1 to {len(words)}, {' '.join(words[0].casefold().split())} <" in preparation.notes[0]


def test_a_column_with_fewer_answers_has_the_numbers_of_those_with_all():
    frame = pd.DataFrame({"q": column(AGREEMENT), "r": column(["agree", "disagree"])})
    assert set(decide_columns(frame).apply(frame)[0]["r"]) == {2.0, 4.0}


def test_words_for_no_answer_are_gaps_with_a_remark():
    frame = pd.DataFrame({"q": column([*AGREEMENT, "Don't know"])})
    preparation = decide_columns(frame)
    np.testing.assert_array_equal(preparation.apply(frame)[0].isna(), frame == "Don't know")
    assert any("no such step (don't know)" in note for note in preparation.notes)


@pytest.mark.parametrize(
    "words",
    [
        ["red", "green", "agree"],
        ["4a", "2", "1"],
        ["0.5", "1", "2.5", "unknown"],
        ["1 - North", "2 - South", "3 - East"],
        ["1 - always", "2 - never", "3 - sometimes"],
        ["1 - a|b", "2"],
    ],
)
def test_other_words_stay_categories(words):
    assert kinds(pd.DataFrame({"c": column(words)})) == ["category"]


@pytest.mark.parametrize(
    "words",
    [["disagree", "mostly agree", "agree"], ["disagree", "slightly agree", "somewhat agree"]],
)
def test_different_answers_of_one_column_are_never_one_step(words):
    frame = pd.DataFrame({"q": column(words), "r": column(words[:2])})
    assert kinds(frame) == ["category"] * 2
    table, _ = decide_columns(frame, order=[words]).apply(frame)
    assert set(table["q"]) == {1.0, 2.0, 3.0}


def test_numbered_answers_that_several_columns_share_are_a_scale():
    words = ["1 - aldrig", "2 - ibland", "3 - ofta"]
    frame = pd.DataFrame({name: column(words, seed=i) for i, name in enumerate("abc")})
    frame["c"] = column([*words[:2], "9 - don't know"])
    assert kinds(frame) == ["answers"] * 3 and kinds(frame[["a", "b"]]) == ["category"] * 2


def test_numbers_alone_are_the_answers_that_begin_with_them():
    frame = pd.DataFrame({"q": column(["1 - never", "2", "3", "4", "5 - always"])})
    table, notes = decide_columns(frame).apply(pd.DataFrame({"q": [2.0, 3, np.nan, 5, 6]}))
    np.testing.assert_array_equal(table["q"], [2, 3, np.nan, 5, np.nan])
    assert notes[0].endswith(": q (1).")


GERMAN = "trifft nicht zu, Trifft eher nicht zu,trifft eher zu,trifft zu"


@pytest.mark.parametrize(
    "order",
    [GERMAN, [GERMAN], GERMAN.split(","), [GERMAN.split(",")], [GERMAN, "nie;selten;oft"]],
)
def test_a_given_order_makes_numbers_whatever_the_case(order):
    words = ["Trifft nicht zu", "trifft  eher nicht zu", "trifft eher zu ", "trifft zu"]
    frame = pd.DataFrame({"q": column([*words, "weiß nicht"]), "s": column(["nie", "oft"])})
    preparation = decide_columns(frame, order=order)
    steps = {word: step for step, word in enumerate(words, 1)}
    expected = [steps.get(word, np.nan) for word in frame["q"]]
    np.testing.assert_array_equal(preparation.apply(frame)[0]["q"], expected)
    assert any("weiß nicht" in note for note in preparation.notes)


@pytest.mark.parametrize(
    ("order", "says"),
    [
        ("ja,nein", "order='ja,nein': no column has these answers; those of q are nie, oft"),
        ("nie", "has 1 answer; give at least 2"),
        ("nie,oft,Nie", "has the same answer twice"),
    ],
)
def test_an_order_that_fits_nothing_is_refused(order, says):
    with pytest.raises(ColumnsError, match=says) as caught:
        decide_columns(pd.DataFrame({"q": ["nie", "oft", "nie", "oft"]}), order=order)
    assert caught.value.parameter == "order"


@pytest.mark.parametrize(
    ("steps", "codes"),
    [
        (range(1, 6), [99]),
        (range(1, 8), [9]),
        (range(3), [-1]),
        (range(2), [9]),
        (range(1, 5), [98, 99]),
        (range(1, 5), [-9, 99]),
    ],
)
def test_codes_for_no_answer_are_named_with_the_remedy(steps, codes):
    values = [*steps] * 8 + codes
    frame = pd.DataFrame({name: np.roll(values, i) for i, name in enumerate("abcd")})
    (note,) = decide_columns(frame).notes
    assert f"missing=[{','.join(map(str, codes))}] takes" in note and "in 4 columns (a, b" in note
    prepared = decide_columns(frame, missing=codes)
    np.testing.assert_array_equal(prepared.apply(frame)[0].isna(), frame.isin(codes))
    assert len(prepared.notes) == 2 and prepared.notes[0].startswith("Took ")


@pytest.mark.parametrize(
    "columns",
    [
        {"a": [*range(1, 10)] * 4, "b": [*range(1, 10)] * 4},  # a scale up to 9
        {"a": [1, 2, 3, 4, 9], "b": [1, 2, 3, 4, 5]},  # 9 in one column alone
        {"children": [0, 1, 2, 3, 5, 8, 13, 20, 34, 99]},
        {name: [-2, -1, 0, 1, 2] * 4 for name in "abc"},
        {name: [*range(-3, 4)] * 4 for name in "abc"} | {"d": [*range(-2, 4)], "e": [-1, 0, 1, 2]},
        {"a": np.linspace(0, 99, 40), "b": np.linspace(0, 99, 40)},
    ],
)
def test_numbers_that_are_values_are_not_suspected(columns):
    frame = pd.DataFrame({name: pd.Series(values) for name, values in columns.items()})
    assert not [note for note in decide_columns(frame).notes if "no answer" in note]


def test_a_long_code_in_one_column_alone_is_named_and_infinite_values_are_none():
    frame = pd.DataFrame({"a": [*range(1, 7)] * 19 + [99] * 6, "b": [*range(1, 7)] * 20})
    assert "99 in 1 column (a). It may stand for no answer" in decide_columns(frame).notes[-1]
    assert steps_and_codes(np.array([np.inf, 1, 2, 3, -np.inf, np.nan, 99]))[1] == [99]


def noted(frame):
    return [note for note in decide_columns(pd.DataFrame(frame)).advice if "no answer" in note]


def test_codes_among_words_and_fractions_are_named(rng):
    inventory = {f"q{i}": rng.choice(["Yes", "No", "99"], 60, p=[0.5, 0.4, 0.1]) for i in range(3)}
    assert "99 in 3 columns (q0, q1, q2)" in noted(inventory)[0]
    assert noted({"q": rng.choice(["Yes", "No", "9"], 60)}) == []  # in one column alone
    assert noted({"grade": rng.choice(["7", "8", "9", "10", "none"], 60)}) == []
    halves = {name: rng.choice([*np.arange(1, 7.5, 0.5), 99], 60) for name in "ab"}
    assert "99 in 2 columns (a, b)" in noted(halves)[0]
    assert noted({name: rng.choice([0.5, 1, 1.5, 2, 9], 60) for name in "ab"}) == []


@pytest.mark.parametrize(("low", "code"), [(1, 9), (1, 8), (1, 0), (1, -1), (0, 9), (0, -9)])
def test_a_number_beside_a_clear_scale_is_named_in_few_columns_but_not_in_many(low, code, rng):
    items = {f"q{i:02}": rng.integers(low, 8, 300) for i in range(20)}
    steps = {
        **items,
        **{name: np.where(rng.random(300) < 0.05, code, items[name]) for name in ["q03"]},
    }
    assert f"{code} in 1 column (q03)" in noted(steps)[0]
    rare = {**items, "q03": np.where(np.arange(300) == 7, code, items["q03"])}
    assert bool(noted(rare)) == (code not in (0, 8))  # the end of a scale may be rare
    many = {name: np.where(rng.random(300) < 0.1, code, x) for name, x in items.items()}
    assert bool(noted({**items, **dict(list(many.items())[:9])})) == (code not in (0, 8))


def test_counts_and_pixels_have_no_codes(rng):
    wide = {f"p{i}": rng.integers(0, 17, 200) for i in range(10)}
    narrow = {f"e{i}": np.where(rng.random(200) < 0.03, 8, rng.integers(0, 4, 200)) for i in "ab"}
    assert noted({**wide, **narrow}) == [] and "8 in 2 columns" in noted(narrow)[0]


def test_codes_are_found_as_numbers_and_as_text_and_in_other_files():
    frame = pd.DataFrame(
        {"n": [2, 2, 99, 3], "t": ["2", "2", "99", "3"], "w": ["p", "q", "Refused", "p"]}
    )
    preparation = decide_columns(frame, missing="99,refused")
    assert read_codes([99, "refused"]) == preparation.missing == ("99", "refused")
    for other in (frame, frame.astype({"n": float}), frame.astype(str)):
        table, notes = preparation.apply(other)
        assert table.isna().all(axis=1).tolist() == [False, False, True, False] and notes == []
    assert "No column holds 77" in decide_columns(frame, missing=77).notes[-1]


SOME = [
    {"a1:a3": 9},
    {"a1": "9", ("a2", "a3"): [9]},
    [{"a*": 9}, 99],
    ["a1:a3=9", "99"],
    ["a1,a2=9", "a3=9", 77, 99],
]


@pytest.mark.parametrize("missing", SOME)
def test_codes_of_some_columns_are_answers_in_others(missing):
    frame = pd.DataFrame({"a1": [1, 9], "a2": [9, 2], "a3": [9, 3], "b": [9, 10], "c=d": [9, 3]})
    preparation = decide_columns(frame, missing=missing)
    assert Preparation.from_dict(preparation.to_dict()) == preparation
    for prepared in (preparation.apply(frame)[0], preparation.as_selected(frame)[0]):
        assert prepared.isna().sum().tolist() == [1, 1, 1, 0, 0]
    assert decide_columns(frame, missing="c=d=9").apply(frame)[0].isna().sum().sum() == 1


def test_words_with_a_sign_are_codes_and_wrong_names_are_told():
    frame = pd.DataFrame({"a": ["1 = yes", "9 = none", "1 = yes", "2 = no"], "b": [1, 9, 2, 9]})
    preparation = decide_columns(frame, missing="9 = none")
    assert preparation.apply(frame)[0]["a"].isna().tolist() == [False, True, False, False]
    assert not any("No column" in note for note in preparation.notes)
    told = decide_columns(frame, missing=["bb=9", 9]).notes[-1]
    assert "No column holds bb=9" in told and "by names of the table" in told
    with pytest.raises(ColumnsError, match="missing='bb': there is no column"):
        decide_columns(frame, missing={"bb": 9})


def test_a_code_that_is_an_answer_elsewhere_is_proposed_for_its_columns(rng):
    steps = {f"a{i}": scattered(rng, rng.integers(1, 6, 300), 9) for i in range(1, 5)}
    wide = {f"s{i}": scattered(rng, rng.integers(0, 11, 300), 99) for i in range(1, 4)}
    for names, runs in (("a1 a2 a3 a4", "a1:a4"), ("a2 a1 a4 a3", "a2:a3")):
        frame = {name: steps[name] for name in names.split()} | wide
        told = noted(frame)[0]
        assert f"missing=['{runs}=9', '99'] takes them for gaps; other columns have 9" in told
        assert f"--missing {runs}=9 --missing 99 takes" in translate(told)
    assert "missing=[9] takes it for gaps." in noted(steps)[0]
    odd = {"a1": steps["a1"], "s1": wide["s1"], "a,2": steps["a2"], "a 3": steps["a3"]}
    settings = re.search(r"missing=(\[.*?\])", noted(odd)[0])[1]
    frame = pd.DataFrame(odd)
    missing = decide_columns(frame, missing=ast.literal_eval(settings)).apply(frame)[0].isna()
    of_some = frame.columns.isin(["a1", "a,2", "a 3"])
    assert (missing == ((frame == 99) | (frame == 9) & of_some)).all(None)


def scattered(rng, values, code):
    return np.where(rng.random(len(values)) < 0.05, code, values)
