"""Write names, amounts and foreign text so that people can read them in a sentence."""

import math
from collections.abc import Iterable
from typing import Any

#: Longest text that is taken over from a file; names and reasons there may have no end.
LONGEST = 1000
#: Steps in which shares are told, and how near to none or all a share is none or all.
STEPS, SAME_SHARE = 100_000, 1e-9


def join_names(names: Iterable[Any], most: int = 5) -> str:
    """Join the first few names, and say how many more there are.

    >>> join_names("abcd", most=2)
    'a, b and 2 more'
    """
    every = [str(name) for name in names]
    first = ", ".join(every[:most])
    return first if len(every) <= most else f"{first} and {len(every) - most} more"


def join_words(words: Iterable[Any]) -> str:
    """Join words as in a sentence.

    >>> join_words([2, 4, 5])
    '2, 4 and 5'
    """
    *first, last = [str(word) for word in words]
    return f"{', '.join(first)} and {last}" if first else last


def format_bytes(n_bytes: float) -> str:
    """Write an amount of memory as people do.

    >>> format_bytes(2_500_000)
    '2.5 MB'
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{int(n_bytes)} bytes"


def whole_steps(share: float) -> int:
    """Round a share to whole steps of a thousandth of a per cent; none and all stay what they are.

    >>> whole_steps(0.123456), whole_steps(0.9999999), whole_steps(1 - 1e-12)
    (12346, 99999, 100000)
    """
    if share >= 1 - SAME_SHARE:
        return STEPS
    return 0 if share <= SAME_SHARE else min(max(round(STEPS * share), 1), STEPS - 1)


def write_share(share: float | None) -> str:
    """Write a share in whole per cent, a dash for one that is not known.

    100 % is all and 0 % is none; halves go to the even number. The scripts of the report
    (``format.js``) write the same.

    >>> write_share(0.973), write_share(0.125), write_share(0.996), write_share(0.001)
    ('97 %', '12 %', '> 99 %', '< 1 %')
    """
    if share is None or math.isnan(share):
        return "–"
    steps = whole_steps(share)
    percent = round(100 * steps / STEPS)
    if percent == 0 and steps:
        return "< 1 %"
    return "> 99 %" if percent == 100 and steps < STEPS else f"{percent} %"


def write_p(p_value: float | None) -> str:
    """Write a p-value in two significant digits, a dash for one that is not known.

    >>> write_p(0.0312), write_p(0.0004), write_p(None)
    ('0.031', '< 0.001', '–')
    """
    if p_value is None or math.isnan(p_value):
        return "–"
    return "< 0.001" if p_value < 0.001 else f"{p_value:.2g}"


def ordinal(number: int) -> str:
    """Write a position.

    >>> [ordinal(n) for n in (1, 2, 3, 11, 1022)]
    ['1st', '2nd', '3rd', '11th', '1,022nd']
    """
    teen = 10 < number % 100 < 20
    return f"{number:,}" + ("th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th"))


def count(number: int, thing: str) -> str:
    """Count things.

    >>> count(1, "group"), count(7129, "feature")
    ('1 group', '7,129 features')
    """
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def one_line(text: str) -> str:
    """Put text on one line that a terminal shows as it is, whatever a file has put into it."""
    line = "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode()
        for sign in " ".join(text.split())
    )
    if len(line) <= LONGEST:
        return line
    return f"{line[: LONGEST // 2]} ... {line[-LONGEST // 3 :]}"


def shorten(text: str, longest: int) -> str:
    """Cut text to so many letters, the last of them an ellipsis.

    >>> shorten("long-winded", 5)
    'long…'
    """
    return text if len(text) <= longest else text[: longest - 1] + "…"
