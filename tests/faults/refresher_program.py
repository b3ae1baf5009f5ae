"""A worker process of a run that refreshes what a simulated provider has, and dies where it is told to."""

import sys

from tests.faults.refreshes import declare_refreshes
from tests.faults.worker_program import main

if __name__ == "__main__":
    sys.exit(main(declare_refreshes))
