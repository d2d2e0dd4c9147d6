"""A feature's position in the order of all features, told as a reason.

The page's script (``reasons.js``) writes the same words for other budgets; shares are told in whole
steps, rounded down, so that it comes to the same numbers. Needs neither torch nor the selector.
"""

import math

from groupfs.report.json_numbers import Json
from groupfs.utils.fitted_selector import SAME_SHARE

#: Steps in which shares are told.
STEPS = 100_000


def whole_steps(share: float) -> float:
    """Round a share down to whole steps.

    Examples
    --------
    >>> from groupfs.report.order_reasons import whole_steps
    >>> whole_steps(0.123456), whole_steps(1 - 1e-12)
    (0.12345, 1.0)
    """
    return math.floor(STEPS * (share + SAME_SHARE)) / STEPS


def positions(curve: Json) -> dict[int, int]:
    """Return the position in the order of every feature that varies, 1 for the first."""
    return {feature: k for k, feature in enumerate(curve["order"], start=1)}


def order_reason(curve: Json, position: int, kept: bool, limit: str) -> str:
    """Say what a feature explains on top of those before it, or that it comes too late.

    ``limit`` says why no more features are taken, as in "the budget was 50".
    """
    if not kept:
        return f"comes {ordinal(position)} in the order; {limit}."
    before, share = [0.0, *curve["share"][max(0, position - 2) : position]][-2:]
    if before == 1:
        return f"chosen {ordinal(position)}, after all is explained."
    gain = _percent(round(STEPS * (share - before)))
    others = "the one" if position == 2 else f"the {position - 1:,}"
    on_top = f" on top of {others} before it" if position > 1 else ""
    return f"chosen {ordinal(position)}, explains {gain}{on_top}."


def ordinal(number: int) -> str:
    """Write a position.

    Examples
    --------
    >>> from groupfs.report.order_reasons import ordinal
    >>> [ordinal(n) for n in (1, 2, 3, 11, 1022)]
    ['1st', '2nd', '3rd', '11th', '1,022nd']
    """
    teen = 10 < number % 100 < 20
    return f"{number:,}" + ("th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th"))


def _percent(steps: int) -> str:
    """Write steps in percent, with a decimal where that is much of them."""
    tenths = steps // (STEPS // 1000)
    if not tenths:
        return "less than 0.1 %"
    return f"{tenths // 10} %" if tenths >= 100 else f"{tenths // 10}.{tenths % 10} %"
