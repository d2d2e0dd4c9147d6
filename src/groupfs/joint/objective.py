"""The objective's own numbers."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Objective:
    """What the models minimise, apart from their sparsity weights."""

    n_neighbors: int  #: K
    steps: int  #: t
    gate_noise: float  #: sigma
    through_bandwidth: bool
    walk: Tensor | None = None  #: feature graph, (d, d) dense or CSR; None if groups are fixed
    smoothness_weight: float = 0.0  #: lambda1
    median_factor: float | None = None  #: None: self-tuning graph of the samples
