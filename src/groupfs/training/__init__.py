"""Prepare a problem from a table and train models on it."""
