"""Scheduled refreshes: walks over the keys of a type, begun by its cron expression."""

from livewell.freshness.tests.catalogue import HOUR, NOON, Catalogue
from livewell.freshness.tests.surface import DAY, MINUTE, SECOND
from livewell.kernel import Database


async def _walk(catalogue: Catalogue, name: str) -> dict[str, object]:
    row = await catalogue.owner.fetchrow("select * from livewell_private.scheduled_walk where data_type = $1", name)
    assert row is not None
    return dict(row)


async def test_the_cron_expression_begins_a_walk(catalogue: Catalogue) -> None:
    """Nothing is queued before the first time after a type is there; then once per time, not once per run."""
    await catalogue.scheduled("quote", 3)
    assert await catalogue.run("scheduled_refreshes", NOON + SECOND) == {"walked": 0, "queued": 0}
    assert await catalogue.run("scheduled_refreshes", NOON + 59 * MINUTE) == {"walked": 0, "queued": 0}
    assert await catalogue.run("scheduled_refreshes", NOON + HOUR) == {"walked": 3, "queued": 3}
    assert await catalogue.run("scheduled_refreshes", NOON + HOUR + MINUTE) == {"walked": 0, "queued": 0}
    assert [(job["key"], job["priority"], job["cause"]) for job in await catalogue.jobs()] == [
        ("k00000", -1, "scheduled"),
        ("k00001", -1, "scheduled"),
        ("k00002", -1, "scheduled"),
    ]


async def test_only_what_is_stale_is_queued(catalogue: Catalogue) -> None:
    """A key that is fresh is passed; one that is missing or old is queued."""
    await catalogue.scheduled("quote", 3, ttl=2 * HOUR)
    await catalogue.run("scheduled_refreshes")
    await catalogue.fetched("quote", ["k00000"], NOON)
    await catalogue.fetched("quote", ["k00001"], NOON - 2 * HOUR)
    assert await catalogue.run("scheduled_refreshes", NOON + HOUR) == {"walked": 3, "queued": 2}
    assert [job["key"] for job in await catalogue.jobs()] == ["k00001", "k00002"]


async def test_what_is_watched_is_left_to_the_checker(catalogue: Catalogue) -> None:
    """A watched item keeps its due time: a walk must not put its refresh behind those nobody waits for."""
    await catalogue.scheduled("quote", 2)
    item = await catalogue.watch("quote", "k00000")
    await catalogue.run("scheduled_refreshes")
    assert (await catalogue.run("scheduled_refreshes", NOON + HOUR))["queued"] == 1
    assert await catalogue.owner.fetchval("select due_at from livewell_private.item where id = $1", item) == NOON


async def test_a_viewer_raises_the_scheduled_job(catalogue: Catalogue) -> None:
    """The refresh that waits is the viewer's too: the same job gets the viewer's priority."""
    await catalogue.scheduled("quote", 1)
    await catalogue.run("scheduled_refreshes")
    await catalogue.run("scheduled_refreshes", NOON + HOUR)
    (before,) = await catalogue.jobs()
    await catalogue.watch("quote", "k00000", 7, NOON + HOUR + SECOND)
    await catalogue.run("check", NOON + HOUR + 2 * SECOND)
    (after,) = await catalogue.jobs()
    assert (before["priority"], after["priority"]) == (-1, 7)
    assert before["id"] == after["id"]


async def test_a_run_goes_on_where_the_last_stopped(catalogue: Catalogue) -> None:
    """Each run takes so many keys, shared between the types; in the end every active key was reached once."""
    await catalogue.set("freshness.scheduled_keys", 10)
    await catalogue.scheduled("quote", 25)
    await catalogue.scheduled("profile", 8)
    await catalogue.owner.execute("update livewell_private.type_key set active = false where key = 'k00007'")
    await catalogue.run("scheduled_refreshes")
    for minute, walked in enumerate([10, 10, 10, 1, 0]):
        assert (await catalogue.run("scheduled_refreshes", NOON + HOUR + minute * MINUTE))["walked"] == walked
    jobs = await catalogue.jobs()
    quotes = sorted(job["key"] for job in jobs if job["kind"] == "refresh.quote")
    assert quotes == [f"k{n:05}" for n in range(25) if n != 7]
    assert len(jobs) == 24 + 7


async def test_a_time_that_comes_during_a_walk_is_noted(catalogue: Catalogue) -> None:
    """The walk under way is not begun anew, and the next begins when it ends."""
    await catalogue.set("freshness.scheduled_keys", 2)
    await catalogue.scheduled("quote", 3, cron="* * * * *", ttl=DAY)
    await catalogue.run("scheduled_refreshes")
    await catalogue.run("scheduled_refreshes", NOON + MINUTE)
    assert await catalogue.run("scheduled_refreshes", NOON + 2 * MINUTE) == {"walked": 1, "queued": 1}
    walk = await _walk(catalogue, "quote")
    assert (walk["begun_at"], walk["reached"], walk["wanted"]) == (NOON + 2 * MINUTE, None, False)
    await catalogue.fetched("quote", [f"k0000{n}" for n in range(3)], NOON)
    assert await catalogue.run("scheduled_refreshes", NOON + 3 * MINUTE - SECOND) == {"walked": 2, "queued": 0}


async def test_the_depth_throttles_the_walk(catalogue: Catalogue) -> None:
    """So many scheduled refreshes wait at an endpoint, no more; as they go the walk goes on; others are not held up."""
    await catalogue.set("freshness.scheduled_depth", 4)
    await catalogue.scheduled("quote", 10, endpoint="sim/slow")
    await catalogue.scheduled("ratios", 10, endpoint="sim/slow")
    await catalogue.scheduled("profile", 6, endpoint="other/fast")
    await catalogue.run("scheduled_refreshes")
    await catalogue.run("scheduled_refreshes", NOON + HOUR)
    kinds = sorted(job["kind"] for job in await catalogue.jobs())
    assert kinds == ["refresh.profile"] * 4 + ["refresh.quote"] * 4
    assert (await catalogue.run("scheduled_refreshes", NOON + HOUR + MINUTE))["walked"] == 0
    reached: set[tuple[str, str]] = set()
    for minute in range(2, 10):
        rows = await catalogue.owner.fetch(
            "delete from livewell_private.job_live returning kind, payload ->> 'key' as key"
        )
        reached |= {(row["kind"], row["key"]) for row in rows}
        await catalogue.run("scheduled_refreshes", NOON + HOUR + minute * MINUTE)
        assert len(await catalogue.jobs()) <= 8
    assert len(reached) == 26


async def test_a_full_endpoint_loses_no_key(catalogue: Catalogue, owner: Database) -> None:
    """What found no room at its endpoint is where the next run goes on."""
    await catalogue.scheduled("quote", 9)
    await owner.execute("update livewell_private.endpoint set depth_limit = 4 where name = 'sim/quote'")
    await catalogue.run("scheduled_refreshes")
    reached: set[str] = set()
    for minute in range(4):
        await catalogue.run("scheduled_refreshes", NOON + HOUR + minute * MINUTE)
        reached |= await catalogue.clear_queue()
    assert reached == {f"k{n:05}" for n in range(9)}


async def test_a_low_quota_and_a_closed_endpoint_stop_the_walk(catalogue: Catalogue, owner: Database) -> None:
    """Scheduled work waits while the quota is low or its endpoint is not active, and goes on after."""
    await catalogue.scheduled("quote", 2)
    await catalogue.run("scheduled_refreshes")
    await owner.execute("update livewell_private.provider set quota_bytes = 1000, pace = 'none' where name = 'sim'")
    await owner.execute("insert into livewell_private.quota_hour values ('sim', $1, 870)", NOON)
    assert (await catalogue.run("scheduled_refreshes", NOON + HOUR))["walked"] == 0
    await owner.execute("delete from livewell_private.quota_hour")
    await owner.execute("update livewell_private.endpoint set state = 'maintenance' where name = 'sim/quote'")
    assert (await catalogue.run("scheduled_refreshes", NOON + HOUR + MINUTE))["walked"] == 0
    await owner.execute("update livewell_private.endpoint set state = 'active' where name = 'sim/quote'")
    assert (await catalogue.run("scheduled_refreshes", NOON + HOUR + 2 * MINUTE))["queued"] == 2


async def test_the_value_policy_walks_too(catalogue: Catalogue, owner: Database) -> None:
    """What has no viewers has no value; its schedule was asked for all the same."""
    await catalogue.scheduled("quote", 1)
    await catalogue.run("scheduled_refreshes")
    await catalogue.fetched("quote", ["k00000"], NOON)
    await owner.execute("update livewell_private.provider set policy = 'value'")
    await owner.execute("insert into livewell_private.byte_price (provider, price) values ('sim', 1)")
    assert (await catalogue.run("scheduled_refreshes", NOON + HOUR))["queued"] == 1


async def test_one_bad_type_or_key_stops_itself(catalogue: Catalogue, owner: Database) -> None:
    """A bad expression and a failing catalogue are warned about, a key that is none is passed, the rest is walked."""
    await catalogue.scheduled("good", 3)
    await catalogue.scheduled("unreadable", 3, cron="every day")
    await catalogue.scheduled("lost", keys_table="public.nowhere", keys_key_column="symbol")
    await owner.execute("insert into livewell_private.type_key (data_type, key) values ('good', 'a not a key')")
    await catalogue.run("scheduled_refreshes")
    assert await catalogue.run("scheduled_refreshes", NOON + HOUR) == {"walked": 3, "queued": 3}
    assert set(await catalogue.warnings()) == {
        ("freshness.schedule_failed", "unreadable"),
        ("registry.catalogue_failed", "lost"),
    }


async def test_a_catalogue_that_fails_ends_no_walk(catalogue: Catalogue, owner: Database) -> None:
    """What a walk could not read it has not reached: it goes on when the table is there again."""
    await catalogue.scheduled("quote", keys_table="public.symbols", keys_key_column="symbol")
    await catalogue.run("scheduled_refreshes")
    await catalogue.run("scheduled_refreshes", NOON + HOUR)
    await owner.execute("create table public.symbols (symbol text); grant select on public.symbols to livewell_reader")
    await owner.execute("insert into public.symbols values ('AAPL'), ('MSFT')")
    assert await catalogue.run("scheduled_refreshes", NOON + HOUR + MINUTE) == {"walked": 2, "queued": 2}


async def test_a_changed_expression_counts_from_now(catalogue: Catalogue, owner: Database) -> None:
    """A new time replaces the old one, and a type that is no longer scheduled is no longer walked."""
    await catalogue.scheduled("quote", 1)
    await catalogue.run("scheduled_refreshes")
    await owner.execute("update livewell_private.data_type set cron = '30 12 * * *' where name = 'quote'")
    await catalogue.run("scheduled_refreshes", NOON + MINUTE)
    assert (await _walk(catalogue, "quote"))["next_at"] == NOON + 30 * MINUTE
    await owner.execute(
        "update livewell_private.data_type set cron = null, strategy = 'on_demand' where name = 'quote'"
    )
    await catalogue.run("scheduled_refreshes", NOON + HOUR)
    assert await owner.fetchval("select count(*) from livewell_private.scheduled_walk") == 0
    assert await catalogue.jobs() == []


async def test_a_walk_that_fails_keeps_its_place(catalogue: Catalogue) -> None:
    """While no jobs are taken in, nothing is passed over; the walk is warned about and goes on after."""
    await catalogue.scheduled("quote", 2)
    await catalogue.run("scheduled_refreshes")
    await catalogue.set("queue.enqueue_enabled", "false")
    assert await catalogue.run("scheduled_refreshes", NOON + HOUR) == {"walked": 0, "queued": 0}
    assert await catalogue.warnings() == [("freshness.walk_failed", "quote")]
    await catalogue.set("queue.enqueue_enabled", "true")
    assert await catalogue.run("scheduled_refreshes", NOON + HOUR + MINUTE) == {"walked": 2, "queued": 2}
