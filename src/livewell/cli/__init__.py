"""The command line: a thin door to what the rooms do, for people and for scripts.

It owns no table and takes no decision. Each command opens the database the options name (`--database-url`, else
`DATABASE_URL`, else the embedded PostgreSQL below `.livewell`), calls a room, and shows the answer: a table for
people, with `--json` one document for machines (times and durations in ISO 8601). One file per group of commands,
imported when the group is chosen (`commands.py`); a command imports the room it asks, and asks over one connection
(`session.py`). Amounts are printed one way (`livewell.kernel.shown_duration` and its kin).

Invariants. Results go to standard output; notes, progress and errors go to standard error. What changes something
names who did it (`user@host`) to the audit log. No command makes a database without saying so.

How it fails. A fact is one line, `message (fix) [code]`, and exit code 1. A command line that makes no sense is one
such line and exit code 2; a file that makes no sense is a line for each of its problems, and exit code 2. Ctrl-C is
exit code 130, without a word. Only a bug shows a traceback.
"""

from livewell.cli.entry import app, main

__all__ = ["app", "main"]
