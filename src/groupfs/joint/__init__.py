r"""The published method: memberships and gates, learned together.

In the order of the paper; the page "The paper, line by line" has every statement with its test.

- ``graph``: graphs W, P and L_feat, and where gates start; ``batches``: rows as tensors
- ``relaxations``: memberships M (Gumbel-softmax) and gates z, with their noise
- ``losses``: L_s with P^t of the gated samples; F = M Q and L_f; L_reg
- ``model``: what is learned, log(pi), mu and Q, and how it starts; z-hat = M z; the loss L; without
  noise, and for gates all open or all shut
- ``step``: a step of Adam on a batch
- ``loop``: epochs, the temperature T(e), the history of L_s, L_f and L_reg
- ``problem``: L_feat built once, C of the lowest E(C), clusters to start from, mu = 1/2
- ``calibration``: lambda1 that balances L_s and L_f; the critical lambda2, which is ours
- ``training``: models of several seeds; the lowest loss, argmax of the logits, groups ranked by mu
- ``path``: the sweep of lambda2, ``GroupFSPath``
- ``settings``: what ``preset="paper"`` sets: K, t, sigma, T, the learning rate, epochs and batches
- ``estimator``: ``GroupFS``, its parameters and what a fit sets
"""
