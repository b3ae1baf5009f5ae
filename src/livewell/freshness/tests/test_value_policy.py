"""The policy `value`: the best first, no more than soon, nothing that is not worth its bytes."""

from typing import Any

from livewell.freshness.tests.surface import DAY, MINUTE, NOON, SECOND, Freshness
from livewell.kernel import Database
from livewell.testing import make_endpoint, make_table, make_type

QUOTA = 20 * 1024**3


async def _paid(owner: Database, *, requests_per_minute: int | None = None, **fields: Any) -> None:
    await make_endpoint(owner, "sim/quote", quota_bytes=QUOTA, requests_per_minute=requests_per_minute)
    await make_type(owner, "quote", **await make_table(owner, "public.quotes"), **fields)


async def _aged(owner: Database, ages: dict[str, object]) -> None:
    for key, age in ages.items():
        await owner.execute("insert into public.quotes (symbol, fetched_at) values ($1, $2)", key, NOON - age)  # type: ignore[operator]


async def _price(owner: Database, price: float) -> None:
    await owner.execute(
        "insert into livewell_private.byte_price (provider, price, priced_at) values ('sim', $1, $2)"
        " on conflict (provider) do update set price = excluded.price, priced_at = excluded.priced_at",
        price,
        NOON + DAY,
    )


async def test_just_in_time(owner: Database, freshness: Freshness) -> None:
    """Only as many are queued as the endpoint can start soon, the most valuable first; the others wait unqueued."""
    await _paid(owner, requests_per_minute=60)
    keys = [f"K{number}" for number in range(10)]
    await _aged(owner, dict.fromkeys(keys, 2 * MINUTE))
    for number, key in enumerate(keys):
        await freshness.watch("quote", [key], viewers=number + 1)
    assert await freshness.tick() == {"checked": 10, "queued": 3, "waiting": 7}
    jobs = await freshness.jobs()
    assert sorted(jobs, key=lambda key: -jobs[key]) == ["refresh/quote/K9", "refresh/quote/K8", "refresh/quote/K7"]
    assert await freshness.tick(NOON + 5 * SECOND) == {"checked": 7, "waiting": 7}
    await owner.execute("delete from livewell_private.job_live where dedupe_key = 'refresh/quote/K9'")
    assert await freshness.tick(NOON + 10 * SECOND) == {"checked": 7, "queued": 1, "waiting": 6}


async def test_keys_that_share_a_request_are_queued_as_one(owner: Database, freshness: Freshness) -> None:
    """What can start soon is counted in requests: with six keys to each, as many more are queued."""
    await _paid(owner, requests_per_minute=60, keys_per_request=6)
    keys = [f"K{number}" for number in range(30)]
    await _aged(owner, dict.fromkeys(keys, 2 * MINUTE))
    await freshness.watch("quote", keys)
    assert await freshness.tick() == {"checked": 30, "queued": 18, "waiting": 12}
    assert await freshness.tick(NOON + 5 * SECOND) == {"checked": 12, "waiting": 12}
    await owner.execute(
        "delete from livewell_private.job_live where id in (select id from livewell_private.job_live order by id"
        " limit 6)"
    )
    assert await freshness.tick(NOON + 10 * SECOND) == {"checked": 12, "queued": 6, "waiting": 6}


async def test_not_worth_its_bytes(owner: Database, freshness: Freshness) -> None:
    """At a high price only what many look at, and what is missing, is refreshed; the rest is looked at later."""
    await _paid(owner, expected_bytes=100_000)
    await _aged(owner, {"FEW": 2 * MINUTE, "MANY": 2 * MINUTE})
    few, gone = await freshness.watch("quote", ["FEW", "GONE"])
    [many] = await freshness.watch("quote", ["MANY"], viewers=100)
    await _price(owner, 1e-4)
    assert await freshness.check([few, many, gone]) == {few: "not_worth", many: "queued", gone: "queued"}
    assert (await freshness.item(few))["due_at"] == NOON + 15 * SECOND


async def test_contract_obeys_ttl(owner: Database, freshness: Freshness) -> None:
    """Data that never changes is not worth much under `observed`, and worth its TTL under `contract`."""
    await _paid(owner, expected_bytes=100_000)
    await _aged(owner, {"A": 2 * MINUTE})
    [item] = await freshness.watch("quote", ["A"])
    await owner.execute("update livewell_private.item set change_rate = 0.0001")
    await _price(owner, 5e-6)
    assert await freshness.check([item]) == {item: "not_worth"}
    await owner.execute("update livewell_private.data_type set value_rule = 'contract'")
    assert await freshness.check([item]) == {item: "queued"}


async def test_bytes_allow_so_many(owner: Database, freshness: Freshness) -> None:
    """Nothing is queued beyond the bytes that the provider's bucket holds now."""
    await _paid(owner, expected_bytes=1_000_000)
    keys = [f"K{number}" for number in range(100)]
    await _aged(owner, dict.fromkeys(keys, 2 * MINUTE))
    await freshness.watch("quote", keys, viewers=1000)
    decided = await freshness.tick()
    headroom = await owner.fetchval("select bytes from unnest(livewell_private.quotas_now('{sim}', null, $1))", NOON)
    assert 0 < decided["queued"] <= headroom // 1_000_000 + 1
    assert decided["waiting"] == 100 - decided["queued"]


async def test_closed_quota(owner: Database, freshness: Freshness) -> None:
    """Once the quota is used up nothing is queued, under either policy."""
    await _paid(owner)
    [item] = await freshness.watch("quote", ["A"])
    await owner.execute(
        "insert into livewell_private.quota_hour (provider, hour, bytes)"
        " values ('sim', date_trunc('hour', $1::timestamptz), $2)",
        NOON,
        QUOTA,
    )
    for policy in ("value", "viewers"):
        await owner.execute("update livewell_private.provider set policy = $1 where name = 'sim'", policy)
        assert await freshness.check([item]) == {item: "quota_closed"}
    assert await freshness.jobs() == {}


async def test_price_follows_the_bucket(owner: Database, freshness: Freshness) -> None:
    """The price falls while the bucket is more than half full, rises while it is less, and never leaves its bounds."""
    await _paid(owner)
    await freshness.tick()
    prices = []
    for minute in range(1, 200, 10):
        await freshness.tick(NOON + minute * MINUTE)
        prices.append(await owner.fetchval("select price from livewell_private.byte_price"))
    assert prices == sorted(prices, reverse=True)
    await owner.execute("update livewell_private.quota_use set bucket_bytes = 0, bucket_at = $1", NOON + 300 * MINUTE)
    await freshness.tick(NOON + 300 * MINUTE)
    dear = await owner.fetchval("select price from livewell_private.byte_price")
    assert dear > prices[-1]
    assert 0 < dear < 8
