"""The methods GroupFS is compared with, under one interface; those with networks need torch.

Every one ranks all features (``scores_``, higher is better, ``-inf`` for constant columns;
``ranking_``, 1 is best) and selects the best ``n_features_to_select`` of them or, where the method
has one, by its own rule.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from groupfs.baselines.base import (
    AllFeatures,
    ColumnSubsetSelector,
    RandomSelector,
    VarianceSelector,
)
from groupfs.baselines.laplacian import LaplacianScore
from groupfs.baselines.mcfs import MCFS
from groupfs.utils.device import import_torch

if TYPE_CHECKING:
    from groupfs.baselines.cae import ConcreteAutoencoderSelector
    from groupfs.baselines.compfs import CompFS
    from groupfs.baselines.dufs import DUFS
    from groupfs.baselines.mgagr import MGAGR

__all__ = ["DUFS", "MCFS", "MGAGR", "AllFeatures", "ColumnSubsetSelector", "CompFS"]
__all__ += ["ConcreteAutoencoderSelector", "LaplacianScore", "RandomSelector", "VarianceSelector"]

#: Where those live that need torch: they are imported when they are asked for.
_LAZY = {"CompFS": "compfs", "ConcreteAutoencoderSelector": "cae", "DUFS": "dufs", "MGAGR": "mgagr"}

# People import them from here, and saved models name them so: files may move.
for _name in set(__all__) - set(_LAZY):
    globals()[_name].__module__ = __name__


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import_torch(name)
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
