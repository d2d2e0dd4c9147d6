"""Build graphs of samples and features, and find clusters of features in them."""
