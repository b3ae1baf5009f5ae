"""What is too large or too long: refused by a fact, where it comes in, and never by an index."""

import json
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from livewell.access import NotSignedIn
from livewell.freshness import InvalidKey
from livewell.jobs import InvalidJob, JobTooLarge
from livewell.kernel import Database, LivewellError
from livewell.testing import make_type

MEGABYTE = 1 << 20
# PostgreSQL compresses what repeats itself before it looks whether an index can hold it.
LONG = "".join(f"{number:x}" for number in range(10_000))
SUBJECTS: list[Any] = [
    *(7, 0, 1.5, True, False, [], {}, ["ada"], {"id": "ada"}, None, ""),
    *("a" * 201, LONG, "ada\n", "\x1b[2Jada", "ada\x7f", "\u202eada", "\x9bada", "ada\u2066"),
]


@pytest.fixture
async def kind(owner: Database) -> str:
    await owner.execute("insert into livewell_private.job_kind (kind) values ('report')")
    return "report"


async def enqueue(database: Database, *jobs: dict[str, Any]) -> list[asyncpg.Record]:
    return await database.fetch("select * from livewell.enqueue_jobs($1::jsonb)", json.dumps(jobs))


@pytest.mark.parametrize("field", ["dedupe_key", "serial_key", "category", "endpoint", "kind"])
async def test_a_long_key_is_refused_by_a_fact(database: Database, kind: str, field: str) -> None:
    """Not by an index that cannot hold it, which would name our tables to whoever sent it."""
    with pytest.raises(LivewellError) as refused:
        await enqueue(database, {"kind": kind, "payload": {"a": 1}, field: LONG})
    assert "index row" not in str(refused.value)
    assert len(str(refused.value)) < 1000


async def test_a_key_as_long_as_it_may_be_is_kept(database: Database, kind: str) -> None:
    """Five hundred characters of any script fit the index."""
    key = "".join(chr(0x1F400 + number % 60) for number in range(500))
    (row,) = await enqueue(database, {"kind": kind, "payload": {"a": 1}, "dedupe_key": key, "serial_key": key})
    assert row["outcome"] == "created"


async def test_a_large_payload_is_refused_by_a_fact(owner: Database, database: Database, kind: str) -> None:
    """A megabyte unless the setting says otherwise; nothing of its batch is queued."""
    good = {"kind": kind, "payload": {"a": 1}}
    large = {"kind": kind, "payload": {"a": "x" * (MEGABYTE + 1)}}
    with pytest.raises(JobTooLarge, match="job 2"):
        await enqueue(database, good, large)
    with pytest.raises(JobTooLarge):
        await database.fetchval(
            "select job_id from livewell.enqueue_job($1, $2::jsonb)", kind, json.dumps(large["payload"])
        )
    assert await owner.fetchval("select count(*) from livewell_private.job") == 0
    await enqueue(database, *([{"kind": kind, "payload": {"a": "x" * 100_000}}] * 20))
    await owner.execute("update livewell_private.setting set value = '2097152' where name = 'jobs.payload_bytes'")
    await enqueue(database, large)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("p_payload", json.dumps({"a": "x" * (MEGABYTE + 1)})),
        ("p_trace_context", json.dumps({"a": "x" * (MEGABYTE + 1)})),
        ("p_dedupe_key", LONG),
        ("p_category", LONG),
    ],
    ids=["payload", "trace", "dedupe key", "category"],
)
async def test_the_quick_way_of_one_job_asks_as_well(
    owner: Database, database: Database, kind: str, parameter: str, value: str
) -> None:
    """An ordinary job has a shorter way, once its lane is open: what is too large or too long is refused there, too."""
    enqueue_one = "select job_id from livewell.enqueue_job(p_kind => $1, p_payload => '{\"a\": 1}')"
    await database.fetchval(enqueue_one, kind)
    cast = "::jsonb" if parameter in {"p_payload", "p_trace_context"} else ""
    other = "" if parameter == "p_payload" else """, p_payload => '{"a": 1}'"""
    with pytest.raises(LivewellError) as refused:
        await database.fetchval(
            f"select job_id from livewell.enqueue_job(p_kind => $1, {parameter} => $2{cast}{other})", kind, value
        )
    assert "index row" not in str(refused.value)
    assert await owner.fetchval("select count(*) from livewell_private.job") == 1


@pytest.mark.parametrize("outcome", ["completed", "failed", "dead", "cancelled"])
async def test_what_a_job_leaves_is_bounded(database: Database, kind: str, outcome: str) -> None:
    """A result or an error beyond the setting is refused by a fact, and the job is still its worker's to end."""
    await enqueue(database, {"kind": kind, "payload": {"a": 1}})
    (job,) = await database.fetch("select * from livewell.claim_jobs('w', array['general'], 1)")
    finish = "select state from livewell.finish_jobs(array[$1::bigint], array[$2::uuid], array[$3], $4::jsonb)"
    large = json.dumps([{"result": "x" * 2 * MEGABYTE, "error": {"message": "x"}, "reason": "x"}])
    with pytest.raises(JobTooLarge):
        await database.fetchval(finish, job["job_id"], job["lease_token"], outcome, large)
    small = json.dumps([{"error": {"message": "x"}, "reason": "x"}])
    assert await database.fetchval(finish, job["job_id"], job["lease_token"], outcome, small) != "lost"


async def test_a_long_name_of_a_worker_is_refused(database: Database) -> None:
    """It ends in an index as well."""
    for name in ("", LONG):
        with pytest.raises(InvalidJob):
            await database.execute("select livewell.register_worker($1, array['general'], array['a'], 1)", name)


async def test_a_long_entry_of_the_audit_log_is_refused(database: Database) -> None:
    """By the log's own fact, whichever of its indexed fields it is."""
    for field in ("event", "table_name", "record_id", "actor", "subject"):
        entry = {"event": "tried", field: "a" + LONG}
        with pytest.raises(LivewellError) as refused:
            await database.fetch("select livewell.audit_write($1::jsonb)", json.dumps([entry]))
        assert "index row" not in str(refused.value)


async def test_a_long_key_is_not_watched(owner: Database) -> None:
    """The item's index never sees it, whatever the type's pattern allows."""
    await make_type(owner, "note", key_pattern="^.*$")
    async with owner.connection() as caller:
        await caller.execute("set role livewell_user")
        await caller.execute("select set_config('request.jwt.claims', $1, false)", '{"sub": "ada"}')
        with pytest.raises(InvalidKey):
            await caller.fetch(
                "select livewell.watch($1, $2::jsonb)", uuid4(), json.dumps([{"type": "note", "key": LONG}])
            )


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: repr(subject)[:20])
async def test_a_subject_that_is_no_plain_text_is_nobody(owner: Database, subject: Any) -> None:
    """A number, an object or a text that is empty, huge or not visible names no user."""
    await refused_as(owner, json.dumps({"sub": subject}))


@pytest.mark.parametrize(
    "claims", ["[]", "7", '"ada"', "null", "true", '[{"sub": "ada"}]', "{", '{"sub": "\\u0000"}', "{}"]
)
async def test_claims_that_are_no_object_name_nobody(owner: Database, claims: str) -> None:
    """Whatever was put where claims should be is answered by the same fact."""
    await refused_as(owner, claims)


async def refused_as(owner: Database, claims: str) -> None:
    async with owner.connection() as caller:
        await caller.execute("set role livewell_user")
        await caller.execute("select set_config('request.jwt.claims', $1, false)", claims)
        with pytest.raises(NotSignedIn):
            await caller.fetchval("select livewell.current_user_id()")
