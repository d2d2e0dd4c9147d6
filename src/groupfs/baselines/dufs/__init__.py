"""Differentiable unsupervised feature selection (DUFS): a stochastic gate per feature."""
