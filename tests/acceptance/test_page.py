"""A page in a real browser: what it shows is kept fresh because somebody looks at it."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web
from fastapi import APIRouter, Response

from livewell.app import Livewell
from livewell.kernel import Database
from livewell.simulator import Simulator
from livewell.testing import Page, ServedApi, browser, make_type, put, serving, until
from tests.acceptance.command import Cli
from tests.acceptance.test_up import DECLARED, QUICK
from tests.house.project import ROOT

PAGE = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>prices</title>
<p class="card"></p><p class="card"></p><p class="card"></p>
<script type="module">
  import { connect } from "/client/livewell.js";
  const live = connect({ url: location.origin, hiddenAfter: 300, linger: 50 });
  window.live = live;
  window.cards = [...document.querySelectorAll(".card")].map((card) => live.watch("quote", "AAPL", (snapshot) => {
    card.textContent = snapshot.data?.price ?? "";
  }));
</script>
"""
SEEN = """
import("/client/livewell.js").then(({ connect }) => {
  window.seen = new Set();
  connect({ url: location.origin }).watch("quote", "AAPL", ({ data }) => data && window.seen.add(data.price));
  return true;
})
"""
SHOWN = "[...document.querySelectorAll('.card')].map((card) => card.textContent)"
LOOKING = """
select (select count(*) from livewell_private.subscription), (select count(*) from livewell_private.session),
    (select coalesce(sum(viewers), 0) from livewell_private.item)
"""


@asynccontextmanager
async def a_page(owner: Database, app: Livewell) -> AsyncIterator[tuple[Page, ServedApi]]:
    """A browser that shows three cards of one item."""
    await make_type(owner, "quote", read_rule="public")
    await put(owner, "AAPL", {"price": 1})
    async with serving(app) as served, browser() as chromium:
        routes = APIRouter()

        @routes.get("/prices")
        async def prices() -> Response:
            return Response(PAGE, media_type="text/html")

        served.api.application.include_router(routes)
        async with chromium.page(f"{served.address}/prices") as page:
            yield page, served


async def shows(page: Page, value: str) -> None:
    await page.until(f"{SHOWN}.join() === '{value},{value},{value}'", f"every card shows {value}")


async def looking(owner: Database) -> tuple[int, int, int]:
    (row,) = await owner.fetch(LOOKING)
    return tuple(row)


async def test_three_cards_are_one_subscription(owner: Database, database_url: str, reader_url: str) -> None:
    """A page with three cards of one item has one subscription; each change is on all of them; closed, it is gone."""
    async with Livewell(database_url, reader_url=reader_url) as app:
        async with a_page(owner, app) as (page, _):
            await shows(page, "1")
            assert await looking(owner) == (1, 1, 1)
            await put(owner, "AAPL", {"price": 2})
            await shows(page, "2")
            await page.ask("window.cards.slice(0, 2).forEach((card) => card.stop())")
            await put(owner, "AAPL", {"price": 3})
            await page.until(f"{SHOWN}[2] === '3'", "the last card goes on")
            assert await looking(owner) == (1, 1, 1)
            assert page.faults == []
        await until(lambda: _is(owner, (0, 0, 0)), "nobody is left looking")


async def test_a_hidden_tab_looks_no_more(owner: Database, database_url: str, reader_url: str) -> None:
    """While a tab is hidden it is no viewer; shown again it has what changed meanwhile."""
    async with Livewell(database_url, reader_url=reader_url) as app, a_page(owner, app) as (page, _):
        await shows(page, "1")
        await page.hide()
        await until(lambda: _is_watched(owner, watched=False), "a hidden tab looks no more")
        await put(owner, "AAPL", {"price": 2})
        await page.show()
        await shows(page, "2")
        await until(lambda: _is_watched(owner, watched=True), "it looks again")
        await put(owner, "AAPL", {"price": 3})
        await shows(page, "3")


async def test_a_page_outlasts_its_network(owner: Database, database_url: str, reader_url: str) -> None:
    """Cut off and back, a page ends with what is stored, as one viewer."""
    async with Livewell(database_url, reader_url=reader_url) as app, a_page(owner, app) as (page, served):
        await shows(page, "1")
        await page.cut_network(offline=True)
        await page.ask("window.dispatchEvent(new Event('offline'))")
        for client in list(served.gateway.clients):
            client.cut()
        await put(owner, "AAPL", {"price": 2})
        await page.cut_network(offline=False)
        await page.ask("window.dispatchEvent(new Event('online'))")
        await shows(page, "2")
        await until(lambda: _is(owner, (1, 1, 1)), "it is one viewer")


async def test_a_price_of_the_provider_is_on_the_page(owner_cli: Cli) -> None:
    """Declared, run by `livewell up` and looked at by a page, a price comes from its provider by itself, and moves."""
    async with Simulator(QUICK) as simulator, browser() as chromium:
        declared = DECLARED.replace("BASE_URL", f"{simulator.url}/api/v3")
        public = declared.replace("[type.quote]\n", '[type.quote]\nread = "public"\n')
        (owner_cli.folder / "livewell.toml").write_text(public)
        async with owner_cli.running("up") as running:
            address = (await running.event("api_served"))["address"]
            await running.event("live_started")
            async with chromium.page(f"{address}/healthz") as page:
                await page.until("document.body !== null", "there is a page")
                await page.ask(SEEN)
                await page.until("window.seen.size > 1", "two prices were seen")


async def test_the_page_of_the_tutorial_works(owner_cli: Cli, tmp_path: Path) -> None:
    """What the tutorial says is all there is to do: its file declared, its page opened, a price that is fresh."""
    text = (ROOT / "docs/tutorial/first-page.md").read_text(encoding="utf-8")
    declared, page_text = (re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)[0] for kind in ("toml", "html"))
    (tmp_path / "prices.html").write_text(page_text)
    async with Simulator(QUICK) as simulator, browser() as chromium, files_of(tmp_path) as site:
        (owner_cli.folder / "livewell.toml").write_text(declared.replace("http://127.0.0.1:8804", simulator.url))
        async with owner_cli.running("up", "--origin", site) as running:
            address = (await running.event("api_served"))["address"]
            (tmp_path / "prices.html").write_text(page_text.replace("http://127.0.0.1:8810", address))
            await running.event("live_started")
            async with chromium.page(f"{site}/prices.html") as page:
                await page.until("Number(document.querySelector('#price')?.textContent) > 0", "there is a price")
                await page.until("document.querySelector('#told').textContent === 'fresh'", "it is fresh")


@asynccontextmanager
async def files_of(folder: Path) -> AsyncIterator[str]:
    """A server of another origin with these files."""
    site = web.Application()
    site.router.add_static("/", folder)
    runner = web.AppRunner(site)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def _is(owner: Database, expected: tuple[int, int, int]) -> bool:
    return await looking(owner) == expected


async def _is_watched(owner: Database, *, watched: bool) -> bool:
    return bool(await owner.fetchval("select watched from livewell_private.item") == watched)
