"""Say what was found: how many groups, which come first, how far to trust them."""

import numpy as np

from groupfs.result import Result
from groupfs.sentences import p_words
from groupfs.utils.text import count, join_names, write_share

#: Stability below which psychologists look again at a feature.
STABLE = 0.75
#: Replication of a group that is found again as a whole rather than in part, and else what is said.
MOSTLY, PARTLY = 0.5, ", though some only in part (replication from {least:.2f})"


def headline(result: Result) -> str:
    """Say how many groups were found and kept: ``16 groups found, 12 kept``."""
    n_groups, n_kept = len(result.groups), int(result.kept.sum())
    if not n_groups:
        return "No groups found"
    groups = f"{count(n_groups, 'group')} {'found' if result.groups.names is None else 'given'}"
    if n_groups == 1:
        return f"{groups} and kept" if n_kept else f"{groups}, but not kept"
    return f"{groups}, {_some(n_kept, n_groups)} kept"


def selected_sentence(result: Result) -> str:
    """Say how many features are selected, and by what: ``12 of 25 features are selected ...``."""
    asked, n_features = result.selection.asked, len(result.names)
    n_selected, n_kept = int(result.support.sum()), int(result.kept.sum())
    if not n_selected:
        return "Nothing is selected."
    verb = "is" if n_selected == 1 else "are"
    text = f"{n_selected:,} of {count(n_features, 'feature')} {verb} selected"
    if asked.n_features is not None:
        spent = "as asked" if n_selected == asked.n_features else f"of {asked.n_features:,} asked"
        if asked.explain is not None:
            spent = f"enough to explain {write_share(asked.explain)} of the variance"
            spent += "" if asked.is_default else ", as asked"
            if n_selected < asked.n_features:  # the default takes none but those in kept groups
                enough = f"{asked.n_features:,} that explain {write_share(asked.explain)}"
                return f"{text}: those of the {enough} of the variance that are in a kept group."
        outside = int((result.support & (result.groups.labels < 0)).sum())
        text += f", {spent}{f', {outside:,} of them in no group' if outside else ''}"
        without = np.flatnonzero(result.kept & (result.n_selected_of == 0)).tolist()
        if not without or asked.explain is not None:
            return f"{text}."
        which = join_names([result.groups.title(j) for j in without], 4)
        verb = "has" if len(without) == 1 else "have"
        return f"{text}; {len(without):,} of {n_kept:,} kept groups {verb} none of them ({which})."
    if n_selected == n_features:
        return f"All {count(n_features, 'feature')} {verb} selected."
    groups = "group" if n_kept == 1 else "groups"
    if asked.n_per_group is not None:
        each = "one" if asked.n_per_group == 1 else f"up to {asked.n_per_group}"
        return f"{text}, {each} for each of the {groups} kept."
    return f"{text}: those of the {groups} kept."


def sentences(result: Result, n_samples: int) -> list[str]:
    """Write what was found: how many groups, what is explained, which groups, how sure."""
    size = f"In {count(n_samples, 'sample')} of {count(len(result.names), 'feature')}"
    groups = headline(result)
    if not len(result.groups):
        groups = "no feature is related to another beyond chance, so there are no groups"
    how_many = f"{size}: {groups}. {selected_sentence(result)}"
    text = [how_many, result.explained_sentence, _which(result), result.levels_sentence]
    return [sentence for sentence in (*text, *how_sure(result)) if sentence]


def how_sure(result: Result) -> list[str]:
    """Write how far to trust the groups, and what is in none of them."""
    text = [_beyond_chance(result), _agreement(result), _not_sure(result)]
    text.append(result.in_no_group_sentence)
    return [sentence for sentence in text if sentence]


def _which(result: Result) -> str | None:
    """Name the first groups that are kept, and what is known of the very first."""
    groups, kept = result.groups, result.kept.nonzero()[0].tolist()
    if not kept:
        return None
    first = kept[0]
    alpha = result.scales.alpha[first]
    facts = [] if np.isnan(alpha) else [f"alpha {alpha:.2f}"]
    if groups.p_adjusted is not None:
        facts.append(f"adjusted p {p_words(groups.p_adjusted[first])}")
    if groups.replication is not None and len(groups) > 1:  # one group alone is always found
        facts.append(f"replication {groups.replication[first]:.2f}")
    facts.append(count(int(groups.sizes[first]), "feature"))
    alone = "is the only one" if len(groups) == 1 else "is the only one kept"
    around = [_around(result, j) for j in kept]
    text = f"{around[0]} {alone if len(kept) == 1 else 'comes first'} ({', '.join(facts)})"
    if around[1:]:
        text += ", then " + " and ".join(around[1:3])
    rest = f", and {len(kept) - 3} more." if len(kept) > 3 else "."
    return text[0].upper() + text[1:] + rest


def _beyond_chance(result: Result) -> str | None:
    """Say how many groups cohere beyond chance and replicate."""
    groups, alpha = result.groups, result.selection.asked.alpha
    stand_out, rate = groups.stand_out(alpha), f"false discovery rate {write_share(alpha)}"
    if not len(groups):
        return None
    if stand_out is None or groups.p_adjusted is None:
        return "Whether the groups cohere beyond chance was not tested."
    n_out, n_groups = int(stand_out.sum()), len(groups)
    if not n_out:
        least = p_words(float(groups.p_adjusted.min()))
        guess = ": take what is selected as a guess, not as a finding"
        guess = guess if result.support.any() else ""
        return (
            f"No group coheres beyond chance (smallest adjusted p {least}; {rate}), so the table "
            f"may hold no groups at all{guess}."
        )
    cohere = "coheres" if n_out == 1 else "cohere"
    shuffled = "groups found" if groups.names is None else "the same groups"
    which = f"{n_out} of {count(n_groups, 'group')}"
    text = f"{which} {cohere} more than {shuffled} in shuffled columns ({rate})"
    if groups.replicates is None:
        return f"{text}."
    replicated = groups.replicates & stand_out
    n_again = int(replicated.sum())
    again = f"{n_again} of {'it' if n_out == 1 else 'these'}"
    again = {n_out: "it" if n_out == 1 else _some(n_out, n_out), 0: "none"}.get(n_again, again)
    verb = "is" if n_out == 1 or n_again == 1 else "are"
    text += f"; {again} {verb} found again in halves of the rows"
    lowest = 1.0 if groups.replication is None else groups.replication[replicated].min(initial=1)
    return f"{text}{PARTLY.format(least=lowest) if lowest < MOSTLY else ''}."


def _agreement(result: Result) -> str | None:
    """Say how far halves of the rows agree on the groups of a single level."""
    if len(result.levels) != 1 or (by := result.levels[0].agreement) is None:
        return None
    return f"Halves of the rows agree on these groups by {by:.2f} (1 at most, 0 by chance)."


def _not_sure(result: Result) -> str | None:
    """Name the features of kept groups that may as well be in another, the least stable first."""
    labels, (second, _), stability = result.groups.labels, result.second, result.stability
    between = np.array(result.verdicts) == "between two"
    unsure = (between | (stability < STABLE)) & np.append(result.kept, False)[labels]
    told = list[str]()
    for i in sorted(np.flatnonzero(unsure).tolist(), key=lambda i: stability[i]):
        groups = [labels[i], second[i]] if between[i] else [labels[i]]
        which = " or ".join(str(result.groups.label(j)) for j in groups)
        told.append(f"{result.names[i]} ({which})")
    return f"Not sure of their group: {join_names(told)}." if told else None


def _some(n: int, of: int) -> str:
    return {0: "none", of: "both" if of == 2 else "all"}.get(n, f"{n:,}")


def _around(result: Result, j: int) -> str:
    title, name = result.groups.title(j), result.names[result.groups.representatives[j]]
    return title if result.groups.sizes[j] == 1 else f"{title} around {name}"
