"""`python -m livewell.cli`, for where the executable is not on the path."""

from livewell.cli.entry import main

main()
