"""Concrete autoencoder: the features from which a small network best rebuilds all the others.

Axes: N rows, B rows of a batch, d features, K selectors, H hidden units.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor
from torch.nn.functional import leaky_relu
from tqdm import tqdm

from groupfs.baselines.base import Table, TrainedSelector
from groupfs.joint.batches import Batches
from groupfs.joint.problem import DTYPE
from groupfs.joint.relaxations import CounterNoise, gumbel_noise, membership
from groupfs.utils.sklearn_compat import COUNT, POSITIVE, parameter
from groupfs.utils.types import FloatArray, IntArray
from groupfs.utils.warn import warn

#: Slope of the hidden units below zero, and share of them that are left out in a step.
SLOPE, DROPOUT = 0.2, 0.1
#: Temperature of the first step and of the last one; it falls by a constant factor per step.
START_TEMPERATURE, END_TEMPERATURE = 10.0, 2e-3
#: Training ends when the mean over selectors of the largest selection probability exceeds this.
DECIDED = 0.998


@dataclass(eq=False, repr=False, kw_only=True)
class ConcreteAutoencoderSelector(TrainedSelector):
    r"""Keep the features from which an autoencoder rebuilds the table best.

    Each of K selectors holds a logit per feature and passes on a mixture of the features with
    weights :math:`\mathrm{softmax}((\mathrm{logits} + g) / T)`, with fresh Gumbel noise g for every
    batch; a network with one hidden layer rebuilds all d features from the K mixtures. As the
    temperature T falls, from 10 to 0.002, a mixture becomes a single feature.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        K. None takes half of the features that vary.
    hidden_width : int or None, default=None
        Units of the decoder's hidden layer. None takes K.
    batch_size : int or None, default=None
        Rows per step, at most all. None takes an eighth of them, but at least 16 and at most 256.
    max_epochs : int, default=200
        Passes over the table at most. Training ends earlier when the selectors have decided: when
        the mean of their largest selection probabilities exceeds 0.998.
    learning_rate : float, default=1e-3
        Step size of Adam.
    standardize, device, random_state, verbose
        As in :class:`groupfs.GroupFS`.

    Attributes
    ----------
    scores_, ranking_ : ndarray of shape (n_features_in_,)
        Selected features: 1 plus the probability with which their selector picks them. Others: the
        largest probability any selector gives them, at most one half.
    n_collapsed_ : int
        Selectors whose most likely feature was taken already; they got another one, see Notes.
    reconstruction_error_ : float
        Mean squared error with hard selection, duplicates and all, and no dropout; rebuilding every
        feature by its mean gives 1.
    n_iter_, converged_, history_ : int, bool, list of dict
        Epochs trained, whether the selectors had decided, and for each epoch its loss, temperature
        and mean_max_probability.

    Notes
    -----
    The selection probabilities are softmax(logits): at every temperature, that is how likely a
    feature has the largest of the noisy logits. Where several selectors share their most likely
    feature, the surest of them has it; then the others, the surest first, take what is still free.

    References
    ----------
    Balın, Abid, Zou: Concrete Autoencoders: Differentiable Feature Selection and Reconstruction,
    ICML 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from groupfs.baselines import ConcreteAutoencoderSelector
    >>> rng = np.random.default_rng(0)
    >>> causes = rng.standard_normal((100, 2))
    >>> X = np.repeat(causes, 3, axis=1) + 0.1 * rng.standard_normal((100, 6))
    >>> selector = ConcreteAutoencoderSelector(2, learning_rate=0.5, random_state=0).fit(X)
    >>> selector.get_support(indices=True) // 3  # one copy of each cause
    array([0, 1])
    >>> selector.converged_
    True
    """

    __module__ = "groupfs.baselines"

    hidden_width: int | None = parameter(None, COUNT, None)
    batch_size: int | None = parameter(None, COUNT, None)
    max_epochs: int = parameter(200, COUNT)
    learning_rate: float = parameter(1e-3, POSITIVE)

    def _fit_table(self, table: Table) -> None:
        K, rows = self._budget(table), self._batches(table)
        (seed,) = self._seeds(1)
        model = Autoencoder(seed, K, rows.shape[1], self.hidden_width or K, rows.device, DTYPE)
        self.history_ = self._train(model, rows, seed)
        self.n_iter_, sureness = len(self.history_), self.history_[-1]["mean_max_probability"]
        self.converged_ = sureness > DECIDED
        self.reconstruction_error_ = model.hard_error(rows)
        logits = model.logits.detach().cpu().numpy().astype(np.float64)
        if not np.isfinite(self.reconstruction_error_) or not np.isfinite(logits).all():
            raise ValueError(
                f"training diverged with learning_rate={self.learning_rate}: the table is not "
                "rebuilt with a finite error; choose a smaller learning_rate."
            )
        log_probability = log_softmax(logits, axis=1)
        features, self.n_collapsed_ = distinct_features(log_probability)
        ties = log_probability.max(axis=0)
        ties[features] = log_probability[np.arange(K), features]
        scores = np.exp(ties)
        scores[features] += 1
        self._rank(table, scores, K, tie_breaker=ties)
        if not self.converged_:
            warn(
                f"The selectors had not decided after {self.n_iter_} epochs: the mean of their "
                f"largest selection probabilities is {sureness:.3f}, not above {DECIDED}. Each "
                "gave its most likely feature; raise max_epochs or learning_rate for a firmer "
                "choice.",
                ConvergenceWarning,
            )

    def _train(self, model: "Autoencoder", rows: Batches, seed: int) -> list[dict[str, float]]:
        """Train until the selectors have decided; return a record for each epoch."""
        N, n_epochs, device = rows.shape[0], self.max_epochs, model.logits.device
        B = min(self.batch_size or min(max(N // 8, 16), 256), N)
        n_steps, n_noise = -(-N // B), model.logits.numel() + B * len(model.b1)
        falling = np.geomspace(START_TEMPERATURE, END_TEMPERATURE, n_epochs * n_steps)
        temperatures = falling.reshape(n_epochs, n_steps)
        noise, orders = CounterNoise([seed], device), np.random.default_rng(seed)
        fused = device.type in ("cpu", "cuda")
        adam = torch.optim.Adam(model.parameters(), lr=self.learning_rate, fused=fused)
        history: list[dict[str, float]] = []
        X = model.logits.new_empty((B, rows.shape[1]))  # batches are written over it
        silent = not self.verbose
        for epoch in tqdm(range(n_epochs), "Concrete autoencoder", unit="epoch", disable=silent):
            total = torch.zeros_like(model.logits[0, 0])
            on_device = torch.as_tensor(temperatures[epoch]).to(total)
            for _, T in zip(rows.fill(n_steps, orders, X), on_device, strict=True):
                loss = model.loss(X, noise.uniform(n_noise, X.dtype)[0], T)
                adam.zero_grad()
                loss.backward()
                adam.step()
                total += loss.detach()
            heat, sureness = float(temperatures[epoch, -1]), model.mean_max_probability()
            record = {"epoch": epoch, "loss": float(total / n_steps), "temperature": heat}
            history.append({**record, "mean_max_probability": sureness})
            if sureness > DECIDED:
                break
        return history


class Autoencoder:
    """K selectors and the network that rebuilds all features from what they pass on.

    Logits of the selectors (K, d) and weights of the decoder's two layers, (K, H) and (H, d), start
    Glorot normal, biases at zero.
    """

    def __init__(
        self, seed: int, K: int, d: int, H: int, device: torch.device, dtype: torch.dtype
    ) -> None:
        def parameter(values: FloatArray) -> Tensor:
            return torch.as_tensor(values, dtype=dtype, device=device).requires_grad_()

        rng = np.random.default_rng([seed, H])
        shapes = ((K, d), (K, H), (H, d))
        starts = [rng.standard_normal(shape) * math.sqrt(2 / sum(shape)) for shape in shapes]
        self.logits, self.W1, self.W2 = map(parameter, starts)
        self.b1, self.b2 = parameter(np.zeros(H)), parameter(np.zeros(d))

    def parameters(self) -> list[Tensor]:
        return [self.logits, self.W1, self.b1, self.W2, self.b2]

    def decode(self, selected: Tensor, kept: Tensor | float = 1.0) -> Tensor:
        """Rebuild all features from the selected ones, (B, K) to (B, d).

        ``kept`` (B, H) multiplies the hidden units, zero for those that are dropped.
        """
        hidden = leaky_relu(torch.addmm(self.b1, selected, self.W1), SLOPE)
        return torch.addmm(self.b2, hidden * kept, self.W2)

    def loss(self, X: Tensor, uniform: Tensor, temperature: Tensor) -> Tensor:
        """Return the mean squared error of a batch (B, d) under noise, (K d + H B,)."""
        n = self.logits.numel()
        gumbel = gumbel_noise(uniform[:n]).view_as(self.logits)
        M = membership(self.logits, gumbel, temperature)
        kept = (uniform[n:] >= DROPOUT).to(X.dtype).view(-1, len(X)).mT
        return (self.decode(X @ M.mT, kept / (1 - DROPOUT)) - X).square().mean()

    def mean_max_probability(self) -> float:
        """Return the mean over selectors of their largest selection probability."""
        logits = self.logits.detach()
        return float((logits.amax(-1) - logits.logsumexp(-1)).exp().mean())

    @torch.no_grad()
    def hard_error(self, rows: Batches, batch_size: int = 256) -> float:
        """Return the mean squared error from the selectors' most likely features alone."""
        N, d = rows.shape
        picks, total = self.logits.argmax(-1), 0.0
        for index in torch.arange(N).split(batch_size):
            X = rows.take(index)
            total += float((self.decode(X[:, picks]) - X).square().sum())
        return total / (N * d)


def distinct_features(log_probability: FloatArray) -> tuple[IntArray, int]:
    """Give every selector a feature of its own, (K, d) to (K,); return how many gave way, too."""
    features = log_probability.argmax(axis=1)
    surest_first = np.argsort(-log_probability.max(axis=1), kind="stable")
    _, first = np.unique(features[surest_first], return_index=True)
    gives_way = np.delete(surest_first, first)
    free = np.ones(log_probability.shape[1], dtype=bool)
    free[features] = False
    for selector in gives_way:
        features[selector] = np.where(free, log_probability[selector], -np.inf).argmax()
        free[features[selector]] = False
    return features, len(gives_way)
