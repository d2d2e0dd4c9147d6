"""Concrete autoencoder: features from which a small network rebuilds all the others."""
