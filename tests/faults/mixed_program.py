"""A worker process of a run that serves every kind there is, those that call the oracle included."""

import sys

from livewell import Livewell
from tests.faults.calls import declare_calls
from tests.faults.history import Notebook
from tests.faults.kinds import declare
from tests.faults.plan import Plan
from tests.faults.worker_program import main


def _declare_all(app: Livewell, book: Notebook, plan: Plan) -> None:
    declare(app, book, plan)
    declare_calls(app, book, plan)


if __name__ == "__main__":
    sys.exit(main(_declare_all))
