"""Concrete autoencoders."""

from groupfs.baselines.cae.estimator import ConcreteAutoencoderSelector

__all__ = ["ConcreteAutoencoderSelector"]
