"""The pretend provider itself: a server on this machine, started in a test's own process or by `livewell simulate`.

Events: `simulator_started`.
"""

import asyncio
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from livewell.kernel import Logger
from livewell.simulator.answers import Answerer
from livewell.simulator.asked import Asked, read_request
from livewell.simulator.calls import Call, CallLog, EndpointFigures
from livewell.simulator.chat import Reply, reply_to
from livewell.simulator.clock import RealClock, SimulatorClock
from livewell.simulator.control import Control
from livewell.simulator.faults import EVERY_ENDPOINT, Fault, FaultKind, FaultPlan
from livewell.simulator.limits import Limit, Limiter, Verdict, http_date, rate_headers
from livewell.simulator.options import CHAT, SimulatorOptions, require_endpoint, require_endpoint_of
from livewell.simulator.status_faults import faulty_status, redirect_to
from livewell.simulator.wire import AlreadySent, Answer, Connection, Sender, WireServer
from livewell.simulator.world import World

log = Logger("livewell.simulator")

HOST = "127.0.0.1"
_CONTROL = "/_control"
_LARGEST_QUESTION = 4 << 20


class Simulator:
    """`async with Simulator() as provider:` serves at `provider.url` until the block ends."""

    name = "simulator"

    def __init__(self, options: SimulatorOptions | None = None, *, clock: SimulatorClock | None = None) -> None:
        self.options = options or SimulatorOptions()
        self.clock = clock or RealClock()
        self.world = World(
            seed=self.options.seed, clock=self.clock, symbols=self.options.symbols, rhythm=self.options.rhythm
        )
        self.log = CallLog(keep=self.options.keep_calls, limits=dict(self.options.limits))
        self.plan = FaultPlan(self.options.seed)
        self.url = ""
        self._answerer = Answerer(self.options, self.world)
        self._control = Control(self)
        self._server: WireServer | None = None
        self._runner: web.ServerRunner | None = None
        self._idle = asyncio.Event()
        self._idle.set()
        for fault in self.options.faults:
            self.plan.add(fault)

    async def open(self) -> None:
        """Begin to serve; a port that cannot be had is told at once, as an OSError."""
        self._server = WireServer(self._serve, handler_cancellation=True)
        self._runner = web.ServerRunner(self._server, shutdown_timeout=1.0)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, HOST, self.options.port).start()
        except OSError:
            await self._runner.cleanup()
            raise
        self.url = f"http://{HOST}:{self._runner.addresses[0][1]}"
        log.info("simulator_started", address=self.url, seed=self.options.seed)

    async def close(self) -> None:
        """End, and with it every connection, also one that hangs."""
        if self._server is not None and self._runner is not None:
            self._server.cut()
            await self._runner.cleanup()
            self._server = self._runner = None

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until told to stop, as a component of a service."""
        if self._runner is None:
            await self.open()
        try:
            await stop.wait()
        finally:
            await self.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def fault(self, kind: FaultKind | str, endpoint: str = EVERY_ENDPOINT, **terms: Any) -> Fault:
        """Let something go wrong from now on; see `Fault` for the terms."""
        fault = Fault(kind=FaultKind(kind), endpoint=endpoint, **terms)
        self.add_fault(fault)
        return fault

    def add_fault(self, fault: Fault) -> None:
        require_endpoint_of(fault)
        self.plan.add(fault)

    def clear_faults(self, endpoint: str | None = None) -> None:
        self.plan.clear(endpoint)

    def set_limit(self, endpoint: str, limit: Limit | None) -> None:
        """Another limit, or none, from now on."""
        require_endpoint(endpoint)
        self.log.set_limit(endpoint, limit)

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls that are over, oldest first, as many as are kept."""
        return self.log.calls

    @property
    def over_limit(self) -> int:
        """Calls that came while their endpoint's limit was used up; 0 when the caller behaves."""
        return sum(figures.over_limit for figures in self.log.figures())

    def figures(self) -> dict[str, EndpointFigures]:
        return {figures.endpoint: figures for figures in self.log.figures()}

    async def settled(self) -> None:
        """Wait until no call is under way, so that the log has all of them."""
        await self._idle.wait()

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        sender = Sender(request)
        if request.raw_path.startswith(_CONTROL):
            answer = await self._control.answer(request)
            await sender.send(_dated(answer if request.keep_alive else answer.closing(), self.clock))
            _taken(request)
            return AlreadySent(keeps_connection=request.keep_alive)
        return await self._serve_call(request, sender)

    async def _serve_call(self, request: web.BaseRequest, sender: Sender) -> web.StreamResponse:
        asked, arrived = read_request(request, self.options.key_place), self.clock.monotonic()
        reply = await self._reply(request, asked)
        number, limiter = self.log.begin(), self.log.limiter(asked.endpoint)
        self._idle.clear()
        verdict = limiter.arrive(arrived, reply.tokens)
        fault = self.plan.draw(asked.endpoint, asked.keys) if verdict.allowed and not asked.is_moved else None
        answer = _dated(self._answer(asked, reply, fault, limiter, verdict), self.clock)
        if not request.keep_alive:
            answer = answer.closing()
        try:
            if self.options.latency:
                await asyncio.sleep(self.options.latency.total_seconds())
            await sender.send(answer)
        finally:
            self._end(
                Call(
                    number=number,
                    arrived=arrived,
                    ended=self.clock.monotonic(),
                    endpoint=asked.endpoint,
                    method=asked.method,
                    path=asked.path,
                    keys=asked.keys,
                    api_key=asked.api_key,
                    status=answer.status if sender.sent else None,
                    bytes_in=_taken(request),
                    bytes_out=sender.sent,
                    fault=None if fault is None else fault.kind.value,
                    over_limit=not verdict.allowed,
                    tokens=reply.tokens if verdict.allowed else 0,
                )
            )
        return AlreadySent(keeps_connection=answer.keeps_connection)

    async def _reply(self, request: web.BaseRequest, asked: Asked) -> Reply:
        """What would be chatted: known before the limits are asked, because they count its tokens."""
        if asked.endpoint != CHAT or asked.method != "POST":
            return Reply()
        body = await request.content.read(_LARGEST_QUESTION)
        while not request.content.at_eof():
            body += await request.content.read(_LARGEST_QUESTION)
        return reply_to(body, seed=self.options.seed, created=int(self.clock.world()))

    def _answer(self, asked: Asked, reply: Reply, fault: Fault | None, limiter: Limiter, verdict: Verdict) -> Answer:
        wall = self.clock.wall()
        told = tuple(rate_headers(limiter.limit, verdict, wall))
        refused = self._answerer.refusal(asked, verdict, told)
        if refused is not None:
            return refused
        if asked.is_sent_on:
            return redirect_to(asked.target)
        if fault is not None and (answer := faulty_status(fault, asked, self.url, wall)) is not None:
            return answer
        if asked.endpoint == CHAT:
            return self._answerer.chat(asked, reply, fault, told)
        return self._answerer.data(asked, fault, told)

    def _end(self, call: Call) -> None:
        self.log.end(call)
        if not self.log.in_flight:
            self._idle.set()


def _dated(answer: Answer, clock: SimulatorClock) -> Answer:
    return answer.with_headers(("Date", http_date(clock.wall())), ("Server", "livewell-simulator"))


def _taken(request: web.BaseRequest) -> int:
    connection = request.protocol
    return connection.taken() if isinstance(connection, Connection) else 0
