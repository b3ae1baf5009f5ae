"""Presets: what the seed documents ship, applied by a person, compared here with what they say."""

from typing import Any

import pytest

from livewell.cli.apply import sections
from livewell.cli.errors import Misused
from livewell.cli.presets import preset
from livewell.kernel import Connection, Database, read_declarations

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
