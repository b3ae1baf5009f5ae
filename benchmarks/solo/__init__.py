"""Bars that only Livewell is measured for: its own figure in a hard place against its own figure in an easy one."""
