"""Known groups as biologists have them: gene sets that overlap and leave genes out."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from groupfs.data.known_groups import feature_index, is_list, parse_groups
from groupfs.data.sources import Source
from groupfs.utils.errors import ParameterError
from groupfs.utils.text import count, join_names
from groupfs.utils.types import BoolArray, IntArray

#: Cells that genes in several sets are compared in, at most.
MOST_CELLS = 2000


def read_gene_sets(groups: Any, genes: list[str]) -> tuple[dict[str, IntArray], list[str]]:
    """Return the genes of every set by their indices, and remarks on genes that are not there.

    ``groups`` are sets by name, a list of sets, or one label per gene.
    """
    if is_list(groups) and not hasattr(groups, "dtype") and any(map(is_list, groups)):
        groups = dict(enumerate(groups))
    if not isinstance(groups, Mapping):
        labels, names = parse_groups(groups, genes)
        return {str(name): np.flatnonzero(labels == j) for j, name in enumerate(names)}, []
    by_name = {name: index for index, name in enumerate(genes)}
    sets: dict[str, IntArray] = {}
    absent: set[str] = set()
    for name, listed in groups.items():
        if not is_list(listed):
            what = f"the set {name!r} is {listed!r}"
            raise ParameterError(f"{what}; give a list of its genes.", "groups")
        members = set()
        for gene in listed:
            if isinstance(gene, (int, np.integer)) or gene in by_name:
                members.add(feature_index(gene, by_name, len(genes), name))
            else:
                absent.add(str(gene))
        sets[str(name)] = np.array(sorted(members), dtype=np.int64)
    if not absent:
        return sets, []
    if not any(map(len, sets.values())):
        raise ParameterError(
            f"not one gene of the sets is among the genes: the sets have "
            f"{join_names(sorted(absent), 3)}, and adata has {join_names(genes, 3)}; give both "
            "the same kind of names, e.g. symbols.",
            "groups",
        )
    which = join_names(sorted(absent))
    return sets, [f"Not among the genes: {len(absent)} of the gene sets' genes ({which})."]


def assign_genes(
    sets: dict[str, IntArray], X: Any, columns: IntArray, varies: BoolArray, signed: bool
) -> tuple[IntArray, NDArray[np.object_], list[str]]:
    """Give each gene that varies one set; return which genes have one, its name, and remarks.

    ``columns`` (d,) says where the genes of X are in the matrix that sets speak of, ``varies`` (d,)
    which of them vary.
    """
    places = {name: np.flatnonzero(varies & np.isin(columns, of)) for name, of in sets.items()}
    assigned = {name: members for name, members in places.items() if len(members) > 1}
    n_sets = np.bincount(np.concatenate([[], *assigned.values()]).astype(int))
    shared = np.flatnonzero(n_sets > 1)
    remarks = []
    if len(shared):
        assigned = _without_overlap(assigned, shared, X, signed)
        remarks.append(
            f"In several gene sets, and left in the one whose other genes it correlates with most: "
            f"{count(len(shared), 'gene')}."
        )
    assigned = {name: members for name, members in assigned.items() if len(members) > 1}
    if len(assigned) < 2:
        raise ParameterError(
            f"{len(assigned)} of {len(sets)} gene sets have two genes that vary and are in no "
            "other set; choosing among sets needs at least 2 of these.",
            "groups",
        )
    if left_out := [name for name in sets if name not in assigned]:
        remarks.append(
            f"Left out, having fewer than two genes: {count(len(left_out), 'gene set')} "
            f"({join_names(left_out)})."
        )
    labels = np.full(len(varies), None, dtype=object)
    for name, members in assigned.items():
        labels[members] = name
    inside = np.sort(np.concatenate(list(assigned.values())))
    if n_without := int(varies.sum()) - len(inside):
        remarks.append(f"In none of the gene sets, and left out: {count(n_without, 'gene')}.")
    return inside, labels[inside], remarks


def _without_overlap(
    sets: dict[str, IntArray], shared: IntArray, X: Any, signed: bool
) -> dict[str, IntArray]:
    """Leave every gene in the set whose other genes it correlates with most; ties in the first."""
    some = np.sort(np.random.default_rng(0).permutation(X.shape[0])[:MOST_CELLS])
    rows = X.gather(some) if isinstance(X, Source) else X[some]
    values = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
    Z = np.nan_to_num(StandardScaler().fit_transform(values.astype(np.float64)))
    best, home = np.full(len(shared), -np.inf), np.zeros(len(shared), dtype=np.int64)
    for index, members in enumerate(sets.values()):
        mine = np.flatnonzero(np.isin(shared, members))
        r = Z[:, shared[mine]].T @ Z[:, members] / len(Z)
        itself = shared[mine][:, None] == members
        near = np.where(itself, 0, r if signed else np.abs(r)).sum(axis=1) / (len(members) - 1)
        nearer = near > best[mine]
        best[mine[nearer]], home[mine[nearer]] = near[nearer], index
    pairs = enumerate(sets.items())
    return {name: np.setdiff1d(own, shared[home != index]) for index, (name, own) in pairs}
