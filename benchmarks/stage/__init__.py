"""What every benchmark stands on: a server of its own, a cache for what peers need, the machine, the report."""
