"""A worker process of a run that calls the oracle."""

import sys

from tests.faults.calls import declare_calls
from tests.faults.worker_program import main

if __name__ == "__main__":
    sys.exit(main(declare_calls))
