"""Common English wordings of answers with an order, as ``wordings.toml`` lists them."""

import tomllib
from importlib import resources

#: Steps from the lowest to the highest: a word each, or several separated by ``|``.
Scale = tuple[str, ...]

_LISTED = tomllib.loads(resources.files(__package__).joinpath("wordings.toml").read_text("utf-8"))


def _both_ways(word: str, opposite: str) -> Scale:
    """Return the steps from extremely one way to extremely the other."""

    def side(of: str) -> list[str]:
        steps = []
        for degree in _LISTED["both_ways"]["degrees"]:
            forms = [form.strip() for d in degree for form in (f"{d} {of}", f"{of} {d}")]
            steps.append("|".join(dict.fromkeys(forms)))
        return steps

    neither = f"neither {word} nor {opposite}|neither {opposite} nor {word}|neither"
    between = f"{neither}|neutral|neutral/undecided|undecided|no opinion"
    return (*side(word), between, *reversed(side(opposite)))


WORDINGS: tuple[Scale, ...] = (
    *(_both_ways(*words) for words in _LISTED["both_ways"]["words"]),
    *map(tuple, _LISTED["scales"]),
)
#: What people say in place of an answer.
NO_ANSWER = frozenset(_LISTED["no_answer"])
