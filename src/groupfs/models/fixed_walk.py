r"""Rows whose graph is known before training: all that the sample term needs of them.

Axes: R models side by side, B samples, d features.

Where the walk P does not depend on the gates, the sample term is linear in the squared weights,

.. math:: L_s = -\frac{1}{Bd}\sum_k w_k\, x_k^\top P^t x_k,

so the numbers :math:`c_k = x_k^\top P^t x_k` of the columns are worked out once, and
:math:`-c / (Bd)` is the gradient whatever the weights are.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from groupfs.graphs.affinity import fill_gaps
from groupfs.utils.types import IntArray


@dataclass(frozen=True)
class FixedWalk:
    """Products of columns with where a known walk takes them."""

    products: Tensor  #: c, (d,)
    n_rows: int  #: B

    @classmethod
    def of(
        cls, X: Tensor, smoothed: Tensor, owner: IntArray | None = None, n_features: int = 0
    ) -> "FixedWalk":
        """Multiply columns with their smoothed selves, (B, p) each; gaps are NaN in X.

        ``owner`` is the feature of every column where features own several.
        """
        products = (fill_gaps(X) * smoothed).sum(-2)
        if owner is not None:
            own = torch.as_tensor(owner, device=X.device)
            products = X.new_zeros(n_features).index_add_(0, own, products)
        return cls(products, len(X))

    @property
    def nbytes(self) -> int:
        return self.products.nbytes

    @property
    def device(self) -> torch.device:
        return self.products.device

    def smoothness(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Compute L_s, (R,), and its gradient on the squared weights of the features, (R, d)."""
        gradient = self.products / (-self.n_rows * len(self.products))
        return weight @ gradient, gradient.expand_as(weight)

    def to(self, device: torch.device) -> "FixedWalk":
        """Copy the products to another device."""
        return FixedWalk(self.products.to(device), self.n_rows)

    def clone(self) -> "FixedWalk":
        """Copy the products."""
        return FixedWalk(self.products.clone(), self.n_rows)

    def copy_(self, other: "FixedWalk") -> None:
        """Overwrite the products with others."""
        self.products.copy_(other.products)
