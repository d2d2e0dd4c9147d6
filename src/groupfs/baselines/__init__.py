"""The methods GroupFS is compared with, under one interface.

Every one ranks all features (``scores_``, higher is better, ``-inf`` for constant columns;
``ranking_``, 1 is best) and selects the best ``n_features_to_select`` of them or, where the method
has one, by its own rule.
"""

from groupfs.baselines.cae import ConcreteAutoencoderSelector
from groupfs.baselines.compfs import CompFS
from groupfs.baselines.dufs import DUFS
from groupfs.baselines.laplacian import LaplacianScore
from groupfs.baselines.mcfs import MCFS
from groupfs.baselines.mgagr import MGAGR
from groupfs.baselines.plain import (
    AllFeatures,
    ColumnSubsetSelector,
    RandomSelector,
    VarianceSelector,
)

__all__ = [
    "DUFS",
    "MCFS",
    "MGAGR",
    "AllFeatures",
    "ColumnSubsetSelector",
    "CompFS",
    "ConcreteAutoencoderSelector",
    "LaplacianScore",
    "RandomSelector",
    "VarianceSelector",
]

# People import them from here, and saved models name them so: files may move.
for _name in __all__:
    globals()[_name].__module__ = __name__
