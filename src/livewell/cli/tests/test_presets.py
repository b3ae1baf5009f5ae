"""Presets: what the seed documents ship, applied by a person, compared here with what they say."""

from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from livewell.cli.apply import sections
from livewell.cli.errors import Misused
from livewell.cli.presets import preset
from livewell.kernel import Connection, Database, read_declarations
from livewell.testing import make_type

PACKAGE = Path(__file__).parents[2]
GB = 1024**3
ENDPOINTS = {
    ("openai/gpt-4o-mini", 500, 200_000, 50),
    ("openai/gpt-4-vision", 100, 20_000, 20),
    ("google/vision-api", 1800, None, 100),
    ("anthropic/claude-3", 400, 100_000, 25),
    ("fmp", 300, None, 10),
}
KINDS = {
    **dict.fromkeys(("fast_queue_security", "fast_queue_ocr", "fast_queue_spatial"), "documents"),
    **dict.fromkeys(("ai_queue_pass1", "ai_queue_pass2", "ai_queue_pass3"), "ai"),
}


async def apply(connection: Connection, name: str) -> set[str]:
    """What applying a preset changes."""
    declared = read_declarations(preset(name).encode(), name, sections())
    changes = [
        change
        for section in sections()
        if section.word in declared.sections
        for change in await section.apply(connection, declared.sections[section.word], plan_only=False, actor="a test")
    ]
    return {change.change for change in changes}


async def seeded(owner: Database) -> tuple[set[Any], dict[str, str]]:
    """The endpoints and the kinds of documents that are there."""
    endpoints = await owner.fetch(
        "select name, requests_per_minute, tokens_per_minute, concurrent from livewell_private.endpoint"
    )
    kinds = await owner.fetch(
        "select kind, queue_group from livewell_private.job_kind where queue_group in ('documents', 'ai')"
    )
    return {tuple(row) for row in endpoints}, {row["kind"]: row["queue_group"] for row in kinds}


async def test_presets_are_what_the_seeds_say(owner: Database) -> None:
    """The limits of five endpoints, the one quota and six kinds of document work; applying again changes nothing."""
    assert await seeded(owner) == (set(), {})
    for name in ("market-data", "documents"):
        async with owner.transaction() as connection:
            assert await apply(connection, name) == {"add"}
            assert await apply(connection, name) == {"same"}
    assert await seeded(owner) == (ENDPOINTS, KINDS)
    quotas = await owner.fetch(
        "select name, quota_bytes, quota_use, pace, quota_window::text from livewell_private.provider"
    )
    assert [tuple(row) for row in quotas if row["quota_bytes"]] == [("fmp", 20 * GB, 0.95, "even", "30 days")]
    defaults = await owner.fetchrow(
        "select requests_per_hour, tokens_per_hour, backpressure_share, backpressure_delay::text, depth_limit"
        " from livewell_private.endpoint where name = 'fmp'"
    )
    assert tuple(defaults or ()) == (None, None, 0.8, "00:00:05", 1000)
    tuned = "select count(*) from livewell_private.job_kind where retries <> 3 or default_priority <> 5"
    assert await owner.fetchval(tuned) == 0


def test_a_preset_that_is_none_is_told() -> None:
    """With what was probably meant, or what there is."""
    with pytest.raises(Misused, match="no preset market-dta") as refused:
        preset("market-dta")
    assert "market-data" in (refused.value.fix or "")
    with pytest.raises(Misused) as refused:
        preset("../livewell")
    assert refused.value.fix == "one of documents, market-data"


@pytest_asyncio.fixture
async def old(owner: Database) -> Database:
    """A database as it was when everybody had the rows of the seeds."""
    for file in ("jobs/sql/migrations/0031_jobs_kinds.sql", "budgets/sql/migrations/0061_budgets_seeds.sql"):
        await owner.execute((PACKAGE / file).read_text())
    return owner


async def migrate(owner: Database) -> None:
    for file in (
        "jobs/sql/migrations/0043_jobs_kinds_by_preset.sql",
        "budgets/sql/migrations/0067_budgets_by_preset.sql",
    ):
        async with owner.transaction() as connection:
            await connection.execute((PACKAGE / file).read_text())


async def test_rows_that_nobody_needs_go(old: Database) -> None:
    """Unchanged and unused, all of what was seeded goes, and what counted its use."""
    await migrate(old)
    assert await seeded(old) == (set(), {})
    left = "select count(*) from livewell_private.limit_use union all select count(*) from livewell_private.quota_use"
    assert [row["count"] for row in await old.fetch(left)] == [0, 0]


@pytest.mark.parametrize(
    ("statement", "kept"),
    [
        ("update livewell_private.endpoint set concurrent = 3 where name = 'fmp'", {"fmp"}),
        ("update livewell_private.provider set quota_use = 0.5 where name = 'google'", {"google/vision-api"}),
        (
            "insert into livewell_private.api_key (provider, name, scope, source) values ('fmp', 'a', 'a', 'env:A')",
            {"fmp"},
        ),
        ("insert into livewell_private.quota_hour (provider, hour, bytes) values ('fmp', now(), 1)", {"fmp"}),
        (
            "update livewell_private.limit_use set minute_slot = 5 where name = 'anthropic/claude-3'",
            {"anthropic/claude-3"},
        ),
        ("select livewell_private.open_lane_for('backup_operation', 'google/vision-api')", {"google/vision-api"}),
        ("insert into livewell_private.estimate (endpoint, subject, updated_at) values ('fmp', 'x', now())", {"fmp"}),
        ("insert into livewell_private.endpoint (name, provider) values ('fmp/quote', 'fmp')", {"fmp", "fmp/quote"}),
    ],
)
async def test_a_provider_that_somebody_changed_or_used_stays(old: Database, statement: str, kept: set[str]) -> None:
    """Tuned, with a key, in the ledger, drawn on, queued for, measured or extended: with all its endpoints."""
    await old.execute(statement)
    await migrate(old)
    assert {name for name, *_ in (await seeded(old))[0]} == kept


async def test_a_provider_with_types_stays(old: Database) -> None:
    """What is kept fresh goes on."""
    await make_type(old, "quote", endpoint="openai/gpt-4o-mini")
    await migrate(old)
    assert {name for name, *_ in (await seeded(old))[0]} == {"openai/gpt-4o-mini", "openai/gpt-4-vision"}


@pytest.mark.parametrize(
    "statement",
    [
        "update livewell_private.job_kind set retries = 1 where kind = 'fast_queue_ocr'",
        """update livewell_private.job_kind set payload_schema = '{"type": "object"}' where kind = 'fast_queue_ocr'""",
        """select livewell.enqueue_job('fast_queue_ocr', '{"n": 1}')""",
        """insert into livewell_private.worker (id, queue_groups, kinds, slots, started_at, last_seen)
        values ('w', '{documents}', '{fast_queue_ocr}', 1, now(), now())""",
    ],
)
async def test_a_kind_that_somebody_changed_or_used_stays(old: Database, statement: str) -> None:
    """Tuned, with a schema, ever queued or handled by a worker; the others go."""
    await old.execute(statement)
    await migrate(old)
    assert (await seeded(old))[1] == {"fast_queue_ocr": "documents"}
