"""Write names, amounts and foreign text so that people can read them in a sentence."""

import math
from collections.abc import Iterable
from typing import Any

#: Longest text that is taken over from a file; names and reasons there may have no end.
LONGEST = 1000


def join_names(names: Iterable[Any], most: int = 5) -> str:
    """Join the first few names, and say how many more there are.

    Examples
    --------
    >>> from groupfs.utils.text import join_names
    >>> join_names("abcd", most=2)
    'a, b and 2 more'
    """
    every = [str(name) for name in names]
    first = ", ".join(every[:most])
    return first if len(every) <= most else f"{first} and {len(every) - most} more"


def format_bytes(n_bytes: float) -> str:
    """Write an amount of memory as people do.

    Examples
    --------
    >>> from groupfs.utils.text import format_bytes
    >>> format_bytes(2_500_000)
    '2.5 MB'
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{int(n_bytes)} bytes"


def write_share(share: float | None) -> str:
    """Write a share in percent, 100 only for all of it, or a dash for one that is not known.

    Examples
    --------
    >>> from groupfs.utils.text import write_share
    >>> write_share(0.973), write_share(0.996), write_share(float("nan"))
    ('97 %', '99 %', '–')
    """
    if share is None or math.isnan(share):
        return "–"
    return f"{100 if share >= 1 else min(99, round(100 * share))} %"


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

    Examples
    --------
    >>> from groupfs.utils.text import shorten
    >>> shorten("long-winded", 5)
    'long…'
    """
    return text if len(text) <= longest else text[: longest - 1] + "…"
