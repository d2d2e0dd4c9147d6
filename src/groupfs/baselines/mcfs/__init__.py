"""Multi-cluster feature selection (MCFS): features that explain a sample graph's eigenvectors."""
