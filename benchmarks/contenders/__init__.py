"""Child programs that need only what Livewell itself needs: the raw loop and Livewell."""
