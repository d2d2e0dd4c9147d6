"""Describe trained models and choose groups and features from them."""
