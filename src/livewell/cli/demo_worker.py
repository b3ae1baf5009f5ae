"""A worker of the demonstration: `livewell worker`, which ends when the demonstration does."""

from livewell.cli.demo_processes import end_with_parent
from livewell.cli.entry import main

if __name__ == "__main__":
    end_with_parent()
    main(["worker", "livewell.cli.demo_app:app", "--concurrency", "10"])
