"""Health, readiness, metrics and runs over HTTP, and whom they are told."""

from typing import Any

import aiohttp

from livewell.access import Scope
from livewell.app import Livewell
from livewell.kernel import Database
from livewell.testing import make_access_key, serving

LATE = "update livewell_private.task set watched_since = now() - interval '30 days', enabled = name = 'rescue'"
MAINTENANCE_LONG_AGO = "update livewell_private.setting set updated_at = now() - interval '30 days'"
RUN = "/v1/tasks/settings_care/run"


async def _ask(method: str, url: str, **options: Any) -> tuple[int, Any]:
    async with aiohttp.ClientSession() as session, session.request(method, url, **options) as answer:
        return answer.status, await answer.json()


async def _key(owner: Database, scope: Scope) -> dict[str, str]:
    made = await make_access_key(owner, scopes=[scope], user="ada")
    return {"Authorization": f"Bearer {made.key.reveal()}"}


async def test_healthz_names_the_late_tasks(app: Livewell, owner: Database) -> None:
    """200 while all is in time, 503 with the names of those that are not, 503 when the database is gone."""
    await owner.execute("update livewell_private.task set watched_since = now()")
    async with serving(app) as served:
        assert (await _ask("GET", f"{served.address}/healthz"))[0] == 200
        await owner.execute(LATE)
        await owner.execute(MAINTENANCE_LONG_AGO)
        status, health = await _ask("GET", f"{served.address}/healthz")
        assert (status, [task["task"] for task in health["late"]]) == (503, ["rescue"])
        await owner.execute("alter schema livewell rename to away")
        status, health = await _ask("GET", f"{served.address}/healthz")
        assert (status, health["ok"], bool(health["error"])) == (503, False, True)
        await owner.execute("alter schema away rename to livewell")


async def test_a_run_over_http_is_the_same_document(app: Livewell) -> None:
    """Ran and skipped are both 200 with the document SQL gives; an unknown task is 404 with its fact."""
    async with serving(app, token="secret") as served:
        told = {"headers": {"Authorization": "Bearer secret"}}
        status, answer = await _ask("POST", served.address + RUN, **told)
        assert (status, answer) == (200, {"ok": True, "ran": True, "result": {"unfit": []}})
        status, answer = await _ask("POST", served.address + RUN, **told)
        assert (status, answer) == (200, {"ok": True, "skipped": True, "reason": "not_due"})
        assert (await _ask("POST", f"{served.address}{RUN}?force=1", **told))[1]["ran"]
        status, answer = await _ask("POST", f"{served.address}/v1/tasks/settings_car/run", **told)
        assert (status, answer["code"], answer["fix"]) == (404, "schedule.unknown_task", "did you mean settings_care?")


async def test_a_run_needs_the_token_or_a_scope(app: Livewell, owner: Database) -> None:
    """Nobody runs a task without LIVEWELL_TOKEN or a key with the scope for it, also not from this machine."""
    async with serving(app, token="secret") as served:
        assert (await _ask("POST", served.address + RUN))[0] == 403
        assert (await _ask("POST", served.address + RUN, headers={"Authorization": "Bearer secre"}))[0] == 401
        assert (await _ask("POST", served.address + RUN, headers=await _key(owner, Scope.OBSERVER)))[0] == 403
        assert (await _ask("POST", served.address + RUN, headers=await _key(owner, Scope.OPERATOR)))[0] == 200
    async with serving(app) as served:
        assert (await _ask("POST", served.address + RUN, headers={"Authorization": "Bearer "}))[0] == 400
        assert (await _ask("POST", served.address + RUN, headers={"Authorization": "Bearer None"}))[0] == 401


async def test_metrics_need_a_scope(app: Livewell, owner: Database) -> None:
    """Prometheus shows an access key that may observe; nobody else reads what this process counts."""
    async with serving(app) as served, aiohttp.ClientSession() as session:
        async with session.get(f"{served.address}/metrics") as answer:
            assert answer.status == 403
        async with session.get(f"{served.address}/metrics", headers=await _key(owner, Scope.USER)) as answer:
            assert answer.status == 403
        async with session.get(f"{served.address}/metrics", headers=await _key(owner, Scope.OBSERVER)) as answer:
            assert "livewell_live_clients" in await answer.text()


async def test_it_is_ready_when_clients_are_taken(app: Livewell) -> None:
    """/readyz is 503 until the gateway listens, and again when it stops."""
    async with serving(app) as served:
        assert (await _ask("GET", f"{served.address}/readyz"))[0] == 200
        await served.gateway.close()
        assert (await _ask("GET", f"{served.address}/readyz"))[0] == 503
