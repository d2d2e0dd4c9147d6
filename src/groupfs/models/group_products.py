r"""Rows seen through known groups: all that the sample term needs of them.

Axes: R models side by side, B samples, d features, C groups.

Where all features of a group have one weight, the Gram matrix of the gated samples is
:math:`\sum_j w_j K_j` with :math:`K_j = X_j X_j^\top` the products of the rows over the features of
group j. These are worked out once; then a step costs the same however many features there are.
"""

from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from groupfs.models.fixed_walk import FixedWalk
from groupfs.utils.types import IntArray


@dataclass(frozen=True)
class GroupProducts:
    """Inner products of the same rows over the features of each group."""

    products: Tensor  #: K, (C, B, B)
    n_features: int  #: d

    @classmethod
    def of(cls, X: Tensor, labels: IntArray, n_groups: int) -> "GroupProducts":
        """Multiply rows (B, d), a group at a time; ``labels`` (d,) are the groups."""
        B, d = X.shape
        own = torch.as_tensor(labels, device=X.device)
        products = X.new_empty((n_groups, B, B))
        for j in range(n_groups):
            part = X[:, own == j]
            torch.matmul(part, part.T, out=products[j])
        return cls(products, d)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as an array, which joblib shares between the processes of a machine."""
        return _from_array, (self.products.cpu().numpy(), self.n_features)

    @property
    def n_rows(self) -> int:
        return self.products.shape[-1]

    @property
    def device(self) -> torch.device:
        return self.products.device

    def weighted(self, weight: Tensor) -> Tensor:
        """Add up the products with weights of the groups, (R, C) to (R, B, B)."""
        B = self.n_rows
        return (weight @ self.products.view(-1, B * B)).view(-1, B, B)

    def weights_pullback(self, grad: Tensor) -> Tensor:
        """Turn the gradient on the sum into that on the weights, (R, B, B) to (R, C)."""
        return grad.flatten(1) @ self.products.flatten(1).T

    def to(self, device: torch.device) -> "GroupProducts":
        """Copy the products to another device."""
        return GroupProducts(self.products.to(device), self.n_features)

    def clone(self) -> "GroupProducts":
        """Copy the products."""
        return GroupProducts(self.products.clone(), self.n_features)

    def copy_(self, other: "GroupProducts") -> None:
        """Overwrite the products with others."""
        self.products.copy_(other.products)


def _from_array(products: NDArray[Any], n_features: int) -> GroupProducts:
    return GroupProducts(torch.tensor(products), n_features)


#: Rows, (B, d), their products over groups, or their columns along a walk that is known.
Samples = Tensor | GroupProducts | FixedWalk
