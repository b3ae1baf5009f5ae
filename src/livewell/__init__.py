"""Livewell."""
