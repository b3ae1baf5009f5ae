"""Livewell beside its peers: the same work, the same server, the same run, reported as ratios.

`python -m benchmarks NAME` runs one benchmark. A benchmark is a module here with `run(context)`; finding it is all the
wiring there is. The folders: `stage` is what a benchmark stands on (server, caches, report), `contenders` holds the
child programs written on Livewell's own dependencies, `peers` those that live on a peer's, `solo` the bars that only
Livewell is measured for.
"""
