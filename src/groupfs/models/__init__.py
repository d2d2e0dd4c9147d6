"""The objective and the models that minimise it: pure torch, no settings, no files."""
