"""What is said of tables of every kind: ids, codes for no answer, and nothing where nothing is."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

from groupfs.files.columns import decide_columns

RNG = np.random.default_rng(2024)


def likert(n=300, items=12, steps=5, low=1, prefix="q"):
    """Answers that hang together, as in a questionnaire."""
    trait = RNG.standard_normal((n, 1))
    shown = trait + RNG.standard_normal((n, items)) + RNG.uniform(-0.5, 0.5, items)
    cuts = np.linspace(-1.8, 1.8, steps - 1)
    return pd.DataFrame(np.searchsorted(cuts, shown) + low).add_prefix(prefix)


def scattered(frame, share, value, columns):
    """Put a value into so many cells of some columns."""
    frame = frame.copy().astype(object)
    for name in columns:
        frame.loc[RNG.random(len(frame)) < share, name] = value
    return frame.infer_objects()


def in_words(words, items=6, n=200):
    steps = likert(n, items, len(words), 0)
    return steps.apply(lambda column: column.map(dict(enumerate(words))))


def people(n=250, **columns):
    basic = {"age": RNG.integers(18, 90, n), "income": RNG.lognormal(10, 0.5, n).round()}
    return pd.DataFrame(basic | columns)


def number(n, low, high):
    return RNG.choice(np.arange(low, high), n, replace=False)


Q = [f"q{i}" for i in range(12)]
SURVEY, SEVEN, SOME = likert(), likert(steps=7), Q[2:6]
WORDS = {"agreement": ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"]}
WORDS["Zustimmung"] = ["trifft nicht zu", "trifft eher nicht zu", "trifft eher zu", "trifft zu"]
WORDS["Häufigkeit"] = ["nie", "selten", "manchmal", "oft", "immer"]
WORDS["frecuencia"] = ["nunca", "casi nunca", "a veces", "casi siempre", "siempre"]
WORDS["acuerdo"] = ["Muy en desacuerdo", "En desacuerdo", "De acuerdo", "Muy de acuerdo"]

#: Tables, the columns that are ids or dates, and the numbers that are suspected, where they are.
TABLES = {
    "9 beside 1 to 5": (scattered(SURVEY, 0.04, 9, SOME), "", {"9": SOME}),
    "9 beside 1 to 7": (scattered(SEVEN, 0.04, 9, SOME), "", {"9": SOME}),
    "8 beside 1 to 7": (scattered(SEVEN, 0.06, 8, SOME[:2]), "", {"8": SOME[:2]}),
    "eight classes beside 1 to 7": (SEVEN.assign(income=1 + np.arange(300) % 8), "", {}),
    "0 beside 1 to 5": (scattered(SURVEY, 0.06, 0, SOME[:2]), "", {"0": SOME[:2]}),
    "-1 beside 1 to 5": (scattered(SURVEY, 0.03, -1, SOME), "", {"-1": SOME}),
    "99 beside 1 to 5": (scattered(SURVEY, 0.03, 99, Q), "", {"99": Q[:5]}),
    "77 and 88": (
        scattered(scattered(SURVEY, 0.03, 77, SOME), 0.03, 88, Q[:1]),
        "",
        {"77": SOME, "88": Q[:1]},
    ),
    "-99 and an id": (
        scattered(SURVEY, 0.03, -99, SOME).assign(person_id=number(300, 1, 5000)),
        "person_id",
        {"-99": SOME},
    ),
    "999 beside yes and no": (
        scattered(
            pd.DataFrame(RNG.choice(["Yes", "No"], (200, 5))).add_prefix("q"), 0.05, "999", ["q1"]
        ),
        "",
        {"999": ["q1"]},
    ),
    "-9 beside 0 and 1": (
        scattered(likert(items=8, steps=2, low=0), 0.03, -9, ["q1", "q2"]),
        "",
        {"-9": ["q1", "q2"]},
    ),
    "99 among words": (
        scattered(in_words(WORDS["agreement"]), 0.03, "99", ["q1", "q4"]),
        "",
        {"99": ["q1", "q4"]},
    ),
    "halves and 99": (
        scattered((SURVEY + SURVEY[::-1].to_numpy()) / 2, 0.03, 99, SOME),
        "",
        {"99": SOME},
    ),
    "0 to 10": (likert(steps=11, low=0), "", {}),
    "1 to 9": (likert(steps=9), "", {}),
    "-3 to 3": (likert(steps=7, low=-3), "", {}),
    "rare ends": (likert(steps=9, low=0).clip(1) - 1, "", {}),
    "three scales": (
        pd.concat(
            [SURVEY, likert(steps=9, low=0, items=6, prefix="r"), likert(steps=2, prefix="s")],
            axis=1,
        ),
        "",
        {},
    ),
    **{name: (in_words(words), "", {}) for name, words in WORDS.items()},
    "repeated measures": (
        likert(n=240).assign(subject=np.repeat(number(60, 100, 999), 4), visit=[1, 2, 3, 4] * 60),
        "subject",
        {},
    ),
    "ids by other names": (
        people(n=250, key=number(250, 10_000, 10_400), code=[f"A{i}" for i in range(250)]),
        "key code",
        {},
    ),
    "people": (
        people(children=RNG.poisson(1.2, 250), size=RNG.normal(170, 9, 250).round()),
        "",
        {},
    ),
    "money and shares": (
        people(salary=number(250, 15_000, 90_000), share=RNG.integers(0, 101, 250)),
        "",
        {},
    ),
    "years and dates": (
        people(
            born=RNG.integers(1930, 2006, 250),
            year=1750 + np.arange(250),
            day=pd.date_range("2024-01-01", periods=250).astype(str),
        ),
        "day",
        {},
    ),
    "digits": (load_digits(as_frame=True).data, "", {}),
    "wine": (load_wine(as_frame=True).data, "", {}),
    "tissue": (load_breast_cancer(as_frame=True).data, "", {}),
    "diabetes": (load_diabetes(as_frame=True, scaled=False).data, "", {}),
    "genes": (
        pd.DataFrame(
            RNG.negative_binomial(0.5, RNG.uniform(0.05, 0.6, 300), (120, 300))
        ).add_prefix("g"),
        "",
        {},
    ),
    "single cells": (
        pd.DataFrame(RNG.poisson(RNG.uniform(0.02, 2, 200), (400, 200))).add_prefix("g"),
        "",
        {},
    ),
    "sensors": (
        pd.DataFrame(RNG.standard_normal((400, 10)).cumsum(0).round(1))
        .add_prefix("s")
        .assign(raw=RNG.integers(0, 4096, 400)),
        "",
        {},
    ),
    "-999 among measurements": (
        pd.DataFrame(RNG.normal([4, 20, 900], [1, 8, 400], (300, 3)))
        .add_prefix("s")
        .pipe(scattered, 0.05, -999, ["s0", "s1", "s2"]),
        "",
        {"-999": ["s0", "s1"]},
    ),
    "99999 and -9 among counts": (
        scattered(
            scattered(pd.DataFrame(RNG.poisson(3, (300, 4))).add_prefix("n"), 0.03, 99999, ["n0"]),
            0.03,
            -99,
            ["n0", "n2"],
        ),
        "",
        {"-99": ["n0", "n2"], "99999": ["n0"]},
    ),
    "pictures": (
        pd.DataFrame(
            (RNG.beta(0.2, 2, (150, 200)) * RNG.uniform(0, 1, 200) * 255).astype(int)
        ).add_prefix("p"),
        "",
        {},
    ),
    "flags": (pd.DataFrame(RNG.random((100, 12)) < 0.2).add_prefix("f"), "", {}),
}


@pytest.mark.parametrize("name", TABLES)
def test_ids_and_codes_are_named_and_nothing_else(name):
    frame, ids, codes = TABLES[name]
    preparation = decide_columns(frame)
    assert [c.name for c in preparation.columns if c.why in ("id", "date")] == ids.split()
    assert preparation.names == [n for n in frame if n not in ids.split()]
    said = " ".join(preparation.advice)
    found = dict(re.findall(r"(-?\d+) in \d+ columns? \(([^)]*?)(?: and \d+ more)?\)", said))
    assert found == {code: ", ".join(names) for code, names in codes.items()}
    assert len(preparation.advice) == bool(codes)


@pytest.mark.parametrize("name", WORDS)
def test_words_of_three_languages_are_steps_in_their_order(name):
    frame = TABLES[name][0]
    steps = {word: step for step, word in enumerate(WORDS[name], 1)}
    table = decide_columns(frame).apply(frame)[0]
    expected = frame.apply(lambda column: column.map(steps)).astype(float)
    pd.testing.assert_frame_equal(table, expected)
