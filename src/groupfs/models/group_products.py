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

from groupfs.graphs.affinity import fill_gaps, gram
from groupfs.models.fixed_walk import FixedWalk
from groupfs.utils.types import IntArray


@dataclass(frozen=True)
class GroupProducts:
    """Inner products of the same rows over the features of each group."""

    products: Tensor  #: K, (C, B, B)
    n_features: int  #: d

    @classmethod
    def of(
        cls, X: Tensor, labels: IntArray, n_groups: int, n_features: int | None = None
    ) -> "GroupProducts":
        """Multiply rows (B, p), a group at a time; ``labels`` (p,) are the groups of the columns.

        ``n_features`` own the columns, one each unless given. Gaps are NaN.
        """
        B, d = len(X), n_features or X.shape[1]
        own = torch.as_tensor(labels, device=X.device)
        products = X.new_empty((n_groups, B, B))
        for j in range(n_groups):
            products[j] = gram(X[:, own == j])
        return cls(products, d)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as an array, which joblib shares between the processes of a machine."""
        return _from_array, (self.products.cpu().numpy(), self.n_features)

    @property
    def n_rows(self) -> int:
        return self.products.shape[-1]

    @property
    def nbytes(self) -> int:
        return self.products.nbytes

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


@dataclass(frozen=True)
class FeatureProducts:
    """Rows whose features own several columns, or have gaps; each feature has one weight.

    Axes: p columns. A gap counts as in :func:`groupfs.graphs.affinity.gram`.
    """

    X: Tensor  #: (B, p), 0 in gaps
    owner: Tensor  #: feature of every column, (p,)
    gaps: Tensor  #: variance that gaps of a row add, by feature, (B, d)

    @classmethod
    def of(cls, X: Tensor, owner: IntArray, n_features: int) -> "FeatureProducts":
        """Set gaps of rows (B, p), which are NaN, to the mean."""
        own = torch.as_tensor(owner, device=X.device)
        missing, known = X.isnan(), fill_gaps(X)
        n_known = (~missing).sum(0).clamp_(min=1)
        variance = missing * (known.square().sum(0) / n_known)
        gaps = X.new_zeros((len(X), n_features)).index_add_(1, own, variance)
        return cls(known, own, gaps)

    @property
    def n_rows(self) -> int:
        return len(self.X)

    @property
    def nbytes(self) -> int:
        return self.X.nbytes + self.gaps.nbytes

    @property
    def n_features(self) -> int:
        return self.gaps.shape[1]

    @property
    def device(self) -> torch.device:
        return self.X.device

    def weighted(self, weight: Tensor) -> Tensor:
        """Multiply rows with weights of the features, (R, d) to (R, B, B)."""
        products = (self.X * weight[:, None, self.owner]) @ self.X.T
        products.diagonal(dim1=-2, dim2=-1).add_(weight @ self.gaps.T)
        return products

    def weights_pullback(self, grad: Tensor) -> Tensor:
        """Turn the gradient on the products into that on the weights, (R, B, B) to (R, d)."""
        by_column = (grad @ self.X).mul_(self.X).sum(-2)
        found = grad.diagonal(dim1=-2, dim2=-1) @ self.gaps
        return found.index_add_(1, self.owner, by_column)

    def to(self, device: torch.device) -> "FeatureProducts":
        """Copy the rows to another device."""
        return FeatureProducts(*(part.to(device) for part in (self.X, self.owner, self.gaps)))

    def clone(self) -> "FeatureProducts":
        """Copy the rows."""
        return FeatureProducts(*(part.clone() for part in (self.X, self.owner, self.gaps)))

    def copy_(self, other: "FeatureProducts") -> None:
        """Overwrite the rows with others."""
        self.X.copy_(other.X)
        self.gaps.copy_(other.gaps)


def _from_array(products: NDArray[Any], n_features: int) -> GroupProducts:
    return GroupProducts(torch.tensor(products), n_features)


#: Rows, (B, d), their products over groups, rows of features of any kind, or columns along a walk
#: that is known.
Samples = Tensor | GroupProducts | FeatureProducts | FixedWalk
