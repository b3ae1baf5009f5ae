"""A live picture says what is wrong and why, and nothing it does not know."""

import io
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rich.console import Console

from livewell.app import Livewell
from livewell.budgets import BudgetState
from livewell.cli.live_view import LiveView, PlainView
from livewell.cli.news import Change, News
from livewell.cli.output import console
from livewell.cli.picture import Seen, draw, drawn_progress
from livewell.cli.queue_figures import Counts, Figures, Observer, WorkerFigures
from livewell.cli.troubles import troubles_of
from livewell.cli.type_figures import TypeFigures, TypesObserver, WatchedFigures
from livewell.fetching.tests.storing_surface import Storing, make_quotes
from livewell.jobs import Completed, Finish, JobRequest, JobStore, KindDeclaration
from livewell.kernel import Database, SurvivedWarning

AT = datetime(2026, 11, 16, 12, tzinfo=UTC)
QUOTE = TypeFigures(
    name="quote", items=2, viewers=3, within_ttl=1.0, oldest=timedelta(seconds=4), rates=(1.0,), failing=0, refused=0
)
WORKER = WorkerFigures(name="here-1-a", slots=50, unseen=timedelta(seconds=1))
ENDPOINT = BudgetState(
    name="acme/quote",
    kind="endpoint",
    provider="acme",
    state="active",
    requests_per_minute=300,
    requests_last_minute=6,
    requests_per_hour=None,
    requests_last_hour=6,
    tokens_per_minute=None,
    tokens_last_minute=0,
    tokens_per_hour=None,
    tokens_last_hour=0,
    concurrent=10,
    in_flight=0,
    waiting=0,
    learned={},
    opens_at=None,
    closed_for_good=False,
    closed_reason=None,
    breaker="closed",
    breaker_until=None,
)
WARNED = SurvivedWarning(
    hour=AT, code="fetching.failed", subject="quote", warnings=3, message="AAPL: HTTP 401", first_at=AT, last_at=AT
)


def _seen(
    *, workers: Sequence[WorkerFigures] = (WORKER,), warnings: Sequence[SurvivedWarning] = (), **endpoint: Any
) -> Seen:
    market = WatchedFigures(types=[QUOTE], budgets=[replace(ENDPOINT, **endpoint)])
    return Seen(figures=Figures(kinds=[], workers=workers), market=market, news=News(warnings=warnings))


def _drawn(seen: Seen | None, capsys: pytest.CaptureFixture[str], **how: Any) -> str:
    console().print(draw("up", seen, **how))
    return capsys.readouterr().out


def test_figures_that_are_fresh_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """While the database answers, shares are shown and nothing is called wrong."""
    shown = _drawn(_seen(), capsys, age=0.5)
    assert "100 %" in shown
    assert "working" in shown
    assert "wrong" not in shown
    assert "NO FIGURES" not in shown


@pytest.mark.parametrize(("age", "lost"), [(12.0, "cannot connect"), (12.0, None), (0.1, "cannot connect")])
def test_an_outage_is_no_frozen_hundred_per_cent(
    age: float, lost: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Figures that could not be read again are shown with their age and reason, without shares or workers."""
    shown = _drawn(_seen(), capsys, age=age, lost=lost)
    assert f"NO FIGURES FOR {age:.0f} s: {lost or 'the database does not answer'}" in shown
    assert "100 %" not in shown
    assert "working" not in shown


def test_nothing_read_yet_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """A database that was away from the start leaves no table of noughts."""
    assert "nothing was read yet" in _drawn(None, capsys, age=4, lost="cannot connect")


@pytest.mark.parametrize(
    ("endpoint", "why"),
    [
        (
            {"breaker": "open", "breaker_until": AT},
            "acme/quote: nothing is sent after repeated failures until 12:00:00",
        ),
        ({"closed_reason": "HTTP 429", "opens_at": AT}, "acme/quote: nothing is sent until 12:00:00 (HTTP 429)"),
        ({"closed_for_good": True, "closed_reason": "paused"}, "nothing is sent until it is resumed (paused)"),
        ({"state": "disabled"}, "nothing is sent: it is disabled"),
    ],
)
def test_an_endpoint_that_is_stopped_says_why(
    endpoint: dict[str, Any], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A provider that is down, that limits us or that was paused is told with its reason and until when."""
    assert why in _drawn(_seen(**endpoint), capsys)


def test_a_limit_reached_for_a_moment_is_no_trouble() -> None:
    """That the next call waits for its second is how budgets work."""
    assert troubles_of(budgets=[replace(ENDPOINT, opens_at=AT)]) == []


def test_a_warning_is_shown_with_its_reason_and_how_often(capsys: pytest.CaptureFixture[str]) -> None:
    """What was refused or failed lately stands in the picture, whatever characters it holds."""
    shown = _drawn(_seen(warnings=[replace(WARNED, message="AAPL: [/] HTTP 401")]), capsys)
    assert "12:00:00  quote: AAPL: [/] HTTP 401 (×3)" in shown


@pytest.mark.parametrize(
    ("failing", "ago", "shown"),
    [(1, timedelta(hours=3), True), (0, timedelta(hours=3), False), (0, timedelta(minutes=1), True)],
)
def test_a_reason_is_shown_for_as_long_as_it_holds(failing: int, ago: timedelta, shown: bool) -> None:
    """Tries grow rare while a provider is down: its reason stays as long as something fails; what is over goes."""
    market = WatchedFigures(types=[replace(QUOTE, failing=failing)])
    news = News(warnings=[WARNED, replace(WARNED, message="an older one")], at=AT + ago)
    told = Seen(figures=Figures(kinds=[], workers=[]), market=market, news=news).troubles
    assert ("AAPL: HTTP 401" in [trouble.why for trouble in told]) == shown
    assert ("an older one" in [trouble.why for trouble in told]) == (ago < timedelta(hours=1))


def test_late_tasks_are_shown_without_a_flood() -> None:
    """Without a checker every task is late: the first are named, the others counted."""
    late = [
        {"task": f"t{n}", "last_success_at": None, "late_by_seconds": 5, "last_error": {"message": "no"} if n else None}
        for n in range(20)
    ]
    told = [trouble.line for trouble in troubles_of(late=late)]
    assert told == [
        "task t0: it never succeeded: does a checker run?",
        "task t1: it never succeeded: no",
        "task t2: it never succeeded: no",
        "tasks: 17 more are late",
    ]


@pytest.mark.parametrize(
    ("worker", "state"),
    [
        (replace(WORKER, unseen=timedelta(seconds=12)), "silent for 12 s"),
        (replace(WORKER, gone=True), "gone"),
    ],
)
def test_a_killed_worker_is_not_listed_as_working(
    worker: WorkerFigures, state: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing heard of for longer than a poll it is silent; known to have ended it is gone."""
    seen = _seen(workers=[worker])
    shown = _drawn(seen, capsys)
    assert state in shown
    assert "working" not in shown
    assert " 0 workers" in seen.line


def test_changes_are_part_of_the_picture(capsys: pytest.CaptureFixture[str]) -> None:
    """A change is shown with what it was, whatever characters it holds."""
    change = Change(at=AT, data_type="quote", key="[BRK.A]", what="price 1 → 2")
    assert "12:00:00  quote [BRK.A]  price 1 → 2" in _drawn(replace(_seen(), news=News(changes=[change])), capsys)


def test_progress_is_shown_while_things_are_made_ready(capsys: pytest.CaptureFixture[str]) -> None:
    """From its first second there is something to see: a bar, and what is being done."""
    console().print(drawn_progress("demo", 2, 4, "making the schema", []))
    assert "██████████░░░░░░░░░░  2 of 4: making the schema …" in capsys.readouterr().out


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_a_live_picture_is_drawn_on_any_terminal(width: int) -> None:
    """From getting ready over figures to an outage it shows what there is, and cuts no figure, however narrow."""
    screen = Console(file=io.StringIO(), force_terminal=True, width=width, height=60, _environ={"TERM": "xterm"})
    seen = _seen()
    with LiveView("up", screen) as view:

        def drawn() -> str:
            with screen.capture() as captured:
                screen.print(view.picture())
            return captured.get()

        view.prepare(1, 4, "starting")
        assert "1 of 4: starting" in drawn()
        view.show(seen.figures, seen.market, seen.news)
        assert "100 %" in drawn()
        view.lose("cannot connect")
        assert "NO FIGURES FOR 0 s: cannot connect" in drawn()
        view.show(seen.figures, seen.market, seen.news)
        assert "figures again, after 0 s without" in drawn()


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_plain_lines_of_an_outage_are_few_and_tell_its_age(capsys: pytest.CaptureFixture[str]) -> None:
    """It is said at once, then every ten seconds with the age of the figures, and when it is over."""
    clock = Clock()
    view = PlainView("up", clock=clock)
    view.show(_seen().figures, _seen().market, News())
    for half_seconds in range(1, 61):
        clock.now = half_seconds / 2
        view.lose("cannot connect")
    view.show(_seen().figures, _seen().market, News())
    said = capsys.readouterr().out.splitlines()
    assert said[2:-1] == [
        "  0.5 s  no figures for 0 s: cannot connect",
        " 10.5 s  no figures for 10 s: cannot connect",
        " 20.5 s  no figures for 20 s: cannot connect",
        " 30.0 s  figures again, after 30 s without",
    ]


def test_what_is_wrong_has_a_plain_line_once_a_minute(capsys: pytest.CaptureFixture[str]) -> None:
    """The reason is on the screen without a terminal too, and does not flood it."""
    clock = Clock()
    view = PlainView("up", clock=clock)
    seen = _seen(warnings=[WARNED])
    for second in range(90):
        clock.now = float(second)
        view.show(seen.figures, seen.market, seen.news)
    told = [line for line in capsys.readouterr().out.splitlines() if "wrong: 12:00:00  quote: AAPL: HTTP 401" in line]
    assert len(told) == 2


def test_a_worker_that_stays_silent_is_told_once_a_minute(capsys: pytest.CaptureFixture[str]) -> None:
    """For how long grows from look to look, and is no news."""
    clock = Clock()
    view = PlainView("up", clock=clock)
    for second in range(50):
        clock.now = float(second)
        seen = _seen(workers=[replace(WORKER, unseen=timedelta(seconds=10 + second))])
        view.show(seen.figures, seen.market, seen.news)
    assert capsys.readouterr().out.count("wrong: worker here-1-a: silent for ") == 1


def test_a_thousand_keys_that_fail_are_ten_lines_a_minute(capsys: pytest.CaptureFixture[str]) -> None:
    """Each key has a message of its own: of one type, only so many are told."""
    clock = Clock()
    view = PlainView("up", clock=clock)
    for number in range(1000):
        clock.now = 0.05 * number
        seen = _seen(warnings=[replace(WARNED, message=f"KEY{number}: HTTP 401")])
        view.show(seen.figures, seen.market, seen.news)
    assert capsys.readouterr().out.count("wrong: ") == 10


async def test_figures_are_those_of_all_nodes(owner: Database, database_url: str) -> None:
    """What other processes refreshed is counted, and they are listed, silent by the server's clock."""
    await make_quotes(owner)
    async with Livewell(database_url) as app:
        types, queue = TypesObserver(app), Observer(app.jobs)
        await types.begin()
        await queue.begin()
        await JobStore(owner).declare_kinds([KindDeclaration(kind="report")], actor="test")
        await JobStore(owner).register_worker("elsewhere-7-b", ["general"], ["report"], 5)
        await owner.execute("update livewell_private.worker set last_seen = clock_timestamp() - interval '12 seconds'")
        await Storing(owner).fetch("quote", {"AAPL": {"price": 190.5}}, datetime.now(UTC))
        assert await types.refreshed() == {"quote": 1}
        (worker,) = (await queue.look()).workers
        assert (worker.name, worker.state) == ("elsewhere-7-b", "silent for 12 s")
        looked = await types.look()
        assert [data_type.name for data_type in looked.types] == ["quote"]
        assert {budget.provider for budget in looked.budgets} == {"sim"}, "only what was declared"


async def test_counting_what_is_finished_takes_a_twentieth_of_the_time(owner: Database) -> None:
    """What waits is counted at every look; what is finished only now and then, and is remembered in between."""
    store = JobStore(owner)
    await store.declare_kinds([KindDeclaration(kind="report")], actor="test")
    counts = Counts(store)
    await counts.read()
    read_at = counts.finished_at
    await store.enqueue_jobs([JobRequest(kind="report", payload={"n": 1})])
    (job,) = await store.claim_jobs("w", ["general"], 1)
    await store.finish_jobs([Finish(job.job_id, job.lease_token, Completed())])
    await store.enqueue_jobs([JobRequest(kind="report", payload={"n": 2})])
    counts.again_at = float("inf")
    seen = {count.state: count.jobs for count in await counts.read()}
    assert (seen, counts.finished_at) == ({"pending": 1}, read_at)
    counts.again_at = float("-inf")
    assert {count.state: count.jobs for count in await counts.read()} == {"pending": 1, "completed": 1}
    assert counts.again_at > counts.finished_at > read_at
