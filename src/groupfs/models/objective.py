"""The objective's own numbers, and when a gate counts as open."""

from dataclasses import dataclass

from torch import Tensor

#: A group is open if its gate mean is above this.
OPEN = 0.5


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
