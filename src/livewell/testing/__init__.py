"""What Livewell and its users test with."""
