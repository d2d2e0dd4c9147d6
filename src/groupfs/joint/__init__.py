r"""The published method: memberships and gates, learned together.

``estimator`` has ``GroupFS``, and ``path`` the sweep of lambda2, ``GroupFSPath``. The page "The
paper, line by line" has every statement of the paper with the function that computes it.
"""
