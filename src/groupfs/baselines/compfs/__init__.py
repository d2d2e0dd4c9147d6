"""Composite feature selection (CompFS): learners that share the prediction of classes."""
