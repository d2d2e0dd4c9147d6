"""Common English wordings of answers with an order.

A scale is a sequence of steps, from the lowest to the highest; a step is a word, or several that
are used for it, separated by ``|``. Two of them in one column are different answers, though.
"""

Scale = tuple[str, ...]


def _both_ways(word: str, opposite: str) -> Scale:
    """Return the steps from extremely one way to extremely the other."""
    degrees = (
        "extremely|completely|totally|absolutely|fully|entirely|strongly",
        "very",
        "|mostly|moderately|quite|generally",
        "somewhat|slightly|mildly|rather|a little|tend to|fairly|a bit",
    )

    def side(of: str) -> list[str]:
        steps = []
        for degree in degrees:
            forms = [form for d in degree.split("|") for form in (f"{d} {of}", f"{of} {d}")]
            steps.append("|".join(dict.fromkeys(form.strip() for form in forms)))
        return steps

    neither = f"neither {word} nor {opposite}|neither {opposite} nor {word}|neither"
    between = f"{neither}|neutral|neutral/undecided|undecided|no opinion"
    return (*side(word), between, *reversed(side(opposite)))


#: The steps of common wordings; a file need not use all of them.
WORDINGS: tuple[Scale, ...] = (
    _both_ways("disagree", "agree"),
    _both_ways("dissatisfied", "satisfied"),
    _both_ways("unlikely", "likely"),
    _both_ways("inaccurate", "accurate"),
    _both_ways("untrue", "true"),
    _both_ways("unimportant", "important"),
    (
        "never|none of the time|not at any time",
        "almost never|hardly ever|very rarely|very seldom",
        "rarely|seldom|a little of the time",
        "occasionally|once in a while|now and then",
        "sometimes|some of the time",
        "about half the time|half of the time|half the time|about half of the time",
        "often|frequently|regularly|a good bit of the time",
        "usually|generally|mostly|most of the time",
        "very often|very frequently",
        "almost always|nearly always",
        "always|all of the time|all the time|constantly",
    ),
    (
        "not at all|not in the least|none at all",
        "very little|hardly|hardly at all",
        "a little|a little bit|slightly|to a small extent|a bit",
        "somewhat|some|to some extent",
        "moderately|a moderate amount|to a moderate extent",
        "quite a bit|quite|fairly|considerably|rather",
        "very|very much|a lot|to a great extent|to a large extent",
        "a great deal",
        "extremely|completely|an extreme amount|totally",
    ),
    (
        "not at all important|not important",
        "slightly important|of little importance",
        "somewhat important",
        "moderately important|of some importance",
        "important",
        "very important",
        "extremely important|absolutely essential",
    ),
    (
        "terrible|awful|extremely poor",
        "very poor|very bad",
        "poor|bad",
        "fair|below average",
        "average|ok|okay|satisfactory|acceptable",
        "good|above average",
        "very good",
        "excellent|outstanding|exceptional",
    ),
    (
        "not at all",
        "several days",
        "more than half the days|over half the days",
        "nearly every day|almost every day",
    ),
    ("none|absent|no symptoms", "mild|slight", "moderate", "severe", "very severe|extreme"),
    ("very low", "low", "medium|moderate|middle", "high", "very high"),
)
