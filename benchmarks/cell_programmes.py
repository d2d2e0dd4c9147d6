"""Programmes of genes that go together in blood cells, and whether groups follow them.

The cells are 10x_pbmc68k_reduced of scanpy: 700 cells and 765 genes, the log-normalised values.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import folder
from groupfs import GroupFS

FILE = "single-cell/10x_pbmc68k_reduced.h5ad"
PROGRAMMES = {
    "HLA": "HLA-DRA HLA-DRB1 HLA-DPA1 HLA-DPB1 CD74",
    "monocytes": "LST1 AIF1 TYROBP FCN1",
    "dendritic": "LYZ CST3 FCER1A CLEC10A",
    "NK": "NKG7 GNLY GZMB PRF1 CST7",
    "T": "CD3D CD3E IL32 LCK",
    "B": "CD79A CD79B MS4A1",
    "plasma": "IGJ MZB1 TNFRSF17",
    "CD34+": "PRSS57 GATA2",
    "cycling": "STMN1 PCNA MCM7 HMGB2",
}
#: Genes that belong together whatever else is in their group.
PARTNERS = (
    "CD3D CD3E",
    "CD79A CD79B MS4A1",
    "NKG7 GNLY GZMB",
    "LST1 AIF1",
    "HLA-DRA CD74",
    "PCNA MCM7",
)


def read_cells(file: str | None) -> tuple[NDArray[np.float64], list[str]]:
    """Read values and names of genes: from an npz file with X and names, else as published."""
    if file is not None:
        with np.load(file) as arrays:
            return np.asarray(arrays["X"], dtype=np.float64), arrays["names"].tolist()
    try:
        import anndata
    except ImportError as missing:
        raise SystemExit(
            "anndata is not installed; install it or give --cells FILE, an npz with X and names."
        ) from missing
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # the file is older than today's layout
        return genes_of(anndata.read_h5ad(Path(folder(), FILE)))


def genes_of(cells: Any) -> tuple[NDArray[np.float64], list[str]]:
    """Take the log-normalised values of the genes that the table has, scaled values aside."""
    genes = cells.raw.to_adata()[:, cells.var_names]
    X = genes.X.toarray() if hasattr(genes.X, "toarray") else genes.X
    return np.asarray(X, dtype=np.float64), list(genes.var_names)


def judge(selector: GroupFS, names: list[str]) -> dict[str, Any]:
    """Tell which programmes are groups of their own and kept, and which partners are together."""
    group_of = dict(zip(names, selector.group_labels_.tolist(), strict=True))
    programmes = {name: genes.split() for name, genes in PROGRAMMES.items()}
    judged = {}
    for name, genes in programmes.items():
        groups = [group_of[gene] for gene in genes]
        others = {
            group_of[gene] for other in programmes for gene in programmes[other] if other != name
        }
        main = max(set(groups), key=lambda group: (group >= 0, groups.count(group)))
        judged[name] = {
            "alone": groups[0] >= 0 and len(set(groups)) == 1 and groups[0] not in others,
            "kept": main >= 0 and bool(selector.group_selected_[main]),
            "groups": groups,
        }
    support = selector.get_support()
    return {
        "groups": int(selector.n_groups_),
        "kept": int(selector.group_selected_.sum()),
        "selected": float(support.mean()),
        "lowest_centrality": float(selector.centrality_[support].min()) if support.any() else None,
        "programmes": judged,
        "partners": {genes: together(group_of, genes.split()) for genes in PARTNERS},
    }


def together(group_of: dict[str, int], genes: list[str]) -> bool:
    """Tell whether genes share a group."""
    groups = {group_of[gene] for gene in genes}
    return len(groups) == 1 and min(groups) >= 0


def cell_tables(records: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Make a table of seeds, one of programmes and one of partners, counted over seeds."""
    seeds = [
        {
            "seed": record["seed"],
            "groups": record["groups"],
            "groups kept": record["kept"],
            "genes selected": record["selected"],
            "lowest centrality": record["lowest_centrality"],
            "programmes alone": sum(p["alone"] for p in record["programmes"].values()),
            "programmes kept": sum(p["kept"] for p in record["programmes"].values()),
            "partners together": sum(record["partners"].values()),
        }
        for record in records
    ]
    programmes = [
        {
            "programme": name,
            "a group of its own": _of(r["programmes"][name]["alone"] for r in records),
            "kept": _of(r["programmes"][name]["kept"] for r in records),
            "groups of its genes": "; ".join(
                " ".join(map(str, groups))
                for groups in dict.fromkeys(tuple(r["programmes"][name]["groups"]) for r in records)
            ),
        }
        for name in PROGRAMMES
    ]
    partners = [
        {"genes": genes, "together": _of(record["partners"][genes] for record in records)}
        for genes in PARTNERS
    ]
    return {"Cells": seeds, "Programmes": programmes, "Genes that belong together": partners}


def _of(answers: Any) -> str:
    """Count the seeds that say yes."""
    answers = list(answers)
    return f"{sum(answers)} of {len(answers)}"
