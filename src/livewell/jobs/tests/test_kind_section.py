"""Kinds of jobs as a file declares them."""

from typing import Any

import pytest

from livewell.jobs import InvalidKind, JobStore, KindSection
from livewell.kernel import Database, DeclarationsRefused, read_declarations

FILE = """
[kind.report]
group = "reports"
retries = 1
time_limit = "2 minutes"
"""


async def apply(owner: Database, text: str, *, plan_only: bool = False) -> list[tuple[Any, ...]]:
    section = KindSection()
    declared = read_declarations(text.encode(), "livewell.toml", [section]).sections["kind"]
    async with owner.transaction() as connection:
        changes = await section.apply(connection, declared, plan_only=plan_only, actor="tests")
    return [(change.name, change.change, change.field, change.old, change.new) for change in changes]


async def test_a_kind_is_planned_declared_and_tuned(owner: Database) -> None:
    """What is named is set, what is not stays as it is; a plan says the same and changes nothing."""
    planned = await apply(owner, FILE, plan_only=True)
    assert [change[:3] for change in planned] == [("report", "add", None)]
    assert await JobStore(owner).list_kinds(["report"]) == []
    assert await apply(owner, FILE) == planned
    (kind,) = await JobStore(owner).list_kinds(["report"])
    assert (kind.queue_group, kind.retries, kind.default_priority) == ("reports", 1, 5)
    assert await apply(owner, FILE) == [("report", "same", None, None, None)]
    assert await apply(owner, "[kind.report]\npriority = 7\n") == [("report", "change", "default_priority", 5, 7)]
    (kind,) = await JobStore(owner).list_kinds(["report"])
    assert (kind.retries, kind.default_priority) == (1, 7)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[kind.report]\nretry = 1\n", 'unknown field "retry" (did you mean "retries"?) [jobs.unknown_field]'),
        ("[kind.report]\nlease = 5\n", "has no unit"),
        ("[kind.report]\nretries = -1\n", "retries should be greater than or equal to 0"),
    ],
)
async def test_what_a_kind_cannot_be_is_told_with_its_line(owner: Database, text: str, said: str) -> None:
    """Before anything is applied, in words that name the field."""
    with pytest.raises(DeclarationsRefused) as refused:
        await apply(owner, text)
    assert refused.value.detail is not None
    assert said in refused.value.detail


@pytest.mark.parametrize(
    "text", ['[kind."Report!"]\n', '[kind.report]\nbackoff_first = "2 hours"\nbackoff_max = "1 hour"\n']
)
async def test_what_the_database_refuses_is_told_of_its_kind(owner: Database, text: str) -> None:
    """A name that is none, waits that shrink: nothing is written, and the table is named."""
    with pytest.raises(InvalidKind) as refused:
        await apply(owner, text)
    ((path, _),) = KindSection().told_of(refused.value)
    assert path[0] == "kind"
    assert await JobStore(owner).list_kinds(["report"]) == []
