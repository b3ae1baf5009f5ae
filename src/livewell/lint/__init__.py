"""The contract linter: reads the code of fetchers and models and finds what goes round the framework.

The framework does for every fetcher what must not be forgotten: timeouts, limits, bytes, strict parsing, storing with
the job's end. A fetcher in Python can still go round it, and this finds where: an HTTP client of its own, a model that
takes anything, an error swallowed, a call that blocks the loop, a write of its own. It owns no table and imports no
room, and nothing of what it looks at is imported.

Invariants. A rule keeps its code for good. A finding has a place, one line of what is wrong, and what to do instead. It
is allowed only on its own line and with a reason; an allowance that is not needed is a finding itself.

How it fails. A file that is no Python is a finding (LWL000), not an error. It sees one file at a time: what a name from
another file of yours does is trusted here and looked at there.
"""

from livewell.lint.linter import lint_file, lint_paths, lint_text
from livewell.lint.rules import RULES, Finding, Rule

__all__ = ["RULES", "Finding", "Rule", "lint_file", "lint_paths", "lint_text"]
