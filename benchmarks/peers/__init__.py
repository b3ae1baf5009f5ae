"""Child programs on the peers' own libraries; they run inside `.bench-cache`, never in the project's environment."""
