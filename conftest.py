"""Fixtures for all tests come from the testing room."""

pytest_plugins = ["livewell.testing.plugin", "tests.house.seconds"]
