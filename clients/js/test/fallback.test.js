import assert from "node:assert/strict";
import { test } from "./bounded.js";
import { stage } from "./client.js";
import { Queue, golden, until } from "./server.js";

const { server: SERVER } = golden;
const TOKEN = "header.payload.signature";
const status = (name) => (connection) => connection.status === name;

/** Let attempts fail and be made again, until a request by HTTP has come. */
async function asked({ server, clock, live }) {
  let request;
  server.requests.next().then((came) => (request = came));
  while (!request) {
    await new Promise((done) => setImmediate(done));
    if (live.connection.getSnapshot().status === "waiting") await clock.pass(100);
  }
  return request;
}

/** The platform's fetch, which tells of each piece that was read. */
const watched = (pieces) => async (...asked) => {
  const { ok, status: is, body } = await fetch(...asked);
  const reader = body.getReader();
  const read = async () => {
    const piece = await reader.read();
    setImmediate(() => pieces.push(piece));
    return piece;
  };
  return { ok, status: is, body: { getReader: () => ({ read }) } };
};

/** A client that has only the stream, with AAPL there. */
async function streaming(t, options) {
  const staged = await stage(t, { WebSocket: null, token: async () => TOKEN, ...options });
  const watch = staged.live.watch("quote", "AAPL");
  const stream = await staged.server.requests.next();
  stream.stream(SERVER.hello, SERVER.row);
  await until(watch.item, ({ status: is }) => is === "ready");
  return { ...staged, watch, item: watch.item, stream };
}

/** A client that has been sent away from the stream, so that it polls. */
async function polling(t, options) {
  const staged = await stage(t, { WebSocket: null, token: async () => TOKEN, ...options });
  const watch = staged.live.watch("quote", "AAPL");
  (await staged.server.requests.next()).answer(404, {});
  const get = await asked(staged);
  return { ...staged, watch, item: watch.item, get };
}

test("after three WebSockets that did not open, the stream is taken", async (t) => {
  const staged = await stage(t, { token: async () => TOKEN });
  staged.server.upgrades = false;
  const { item } = staged.live.watch("quote", "AAPL");
  const { request, body, stream } = await asked(staged);
  assert.equal(staged.server.connections, 3);
  assert.equal(`${request.method} ${request.url}`, "POST /v1/live/stream");
  assert.equal(request.headers.authorization, `Bearer ${TOKEN}`);
  assert.deepEqual(body, { items: [{ type: "quote", key: "AAPL" }] });
  stream(SERVER.hello, SERVER.row);
  await until(item, ({ status: is }) => is === "ready");
  assert.equal(staged.live.connection.getSnapshot().transport, "stream");
});

test("a WebSocket that opened and broke is no reason to take another way", async (t) => {
  const { server, live, clock } = await stage(t);
  live.watch("quote", "AAPL");
  for (let number = 0; number < 5; number++) {
    const peer = await server.peers.next();
    await peer.next();
    peer.say(SERVER.hello);
    await until(live.connection, status("open"));
    peer.socket.terminate();
    await until(live.connection, status("waiting"));
    while (live.connection.getSnapshot().status === "waiting") await clock.pass(100);
  }
  assert.equal(live.connection.getSnapshot().transport, "websocket");
});

test("a stream is resumed like a WebSocket, with the golden request", async (t) => {
  const { stream, live, clock, server, item } = await streaming(t);
  stream.response.destroy();
  await until(live.connection, status("waiting"));
  while (live.connection.getSnapshot().status === "waiting") await clock.pass(100);
  const again = await server.requests.next();
  assert.deepEqual(again.body, golden.stream.request);
  again.stream(SERVER.hello);
  again.response.write(golden.stream.event);
  await until(item, ({ age }) => age() === 12);
});

test("an event is put together from whatever pieces it comes in", async (t) => {
  const { stream, item } = await streaming(t);
  const value = { symbol: "AAPL", price: 1, name: "Äpfel 🍏 & Söhne" };
  const bytes = Buffer.from(`: hello\r\n\r\nevent: x\r\ndata:${JSON.stringify([{ ...SERVER.row, value, version: "2" }])}\r\n\r\n`);
  for (const byte of bytes) {
    stream.response.write(Buffer.from([byte]));
    await new Promise((done) => setImmediate(done));
  }
  const { data } = await until(item, ({ version }) => version === "2");
  assert.deepEqual(data, value);
});

test("another list is another request of the same session, and the old one ends", async (t) => {
  const { stream, live, server, watch, clock } = await streaming(t);
  live.watch("quote", "MSFT");
  await stream.gone;
  const second = await server.requests.next();
  const held = golden.client.watch_with_version.items;
  assert.deepEqual(second.body, { session: SERVER.hello.session, items: [...held, { type: "quote", key: "MSFT" }] });
  second.stream(SERVER.hello);
  await until(live.connection, status("open"));
  watch.stop();
  await clock.pass(1_000);
  const third = await server.requests.next();
  assert.deepEqual(third.body.items, [{ type: "quote", key: "MSFT" }]);
});

test("a comment is a sign of life", async (t) => {
  const pieces = new Queue();
  const { stream, live, clock } = await streaming(t, { fetch: watched(pieces) });
  await pieces.next();
  for (let number = 0; number < 4; number++) {
    await clock.pass(15_000);
    stream.stream();
    await pieces.next();
  }
  assert.equal(live.connection.getSnapshot().status, "open");
  await clock.pass(30_000);
  assert.equal(live.connection.getSnapshot().status, "waiting");
  await stream.gone;
});

test("what an abandoned request still hears is none of the next one's", async (t) => {
  const answers = new Queue();
  const fetched = async (...asked) => {
    const answer = await fetch(...asked);
    answers.push(answer);
    return answer;
  };
  const { live, server } = await stage(t, { WebSocket: null, fetch: fetched });
  const { item } = live.watch("quote", "AAPL");
  const first = await server.requests.next();
  first.response.writeHead(503, { "retry-after": "60" });
  first.response.write("{");
  await answers.next();
  live.renew();
  const second = await server.requests.next();
  second.stream(SERVER.hello, SERVER.row);
  await until(item, ({ status: is }) => is === "ready");
  assert.equal(live.connection.getSnapshot().status, "open");
});

test("bye means on the stream what it means on a WebSocket", async (t) => {
  const { stream, live } = await streaming(t);
  stream.stream(SERVER.bye_bad_credential);
  stream.response.end();
  const { error } = await until(live.connection, status("refused"));
  assert.equal(error.message, SERVER.bye_bad_credential.reason);
});

test("a credential refused by HTTP is asked for once more", async (t) => {
  const tokens = ["first", "second"];
  const staged = await stage(t, { WebSocket: null, token: async () => tokens.shift() });
  staged.live.watch("quote", "AAPL");
  const first = await staged.server.requests.next();
  assert.equal(first.request.headers.authorization, "Bearer first");
  first.answer(401, {});
  const second = await asked(staged);
  assert.equal(second.request.headers.authorization, "Bearer second");
  second.answer(401, golden.item.error);
  const { error } = await until(staged.live.connection, status("refused"));
  assert.deepEqual(error, { code: "live.4101", message: golden.item.error.message });
});

test("a server that has no time says when it has", async (t) => {
  const { live, server, clock } = await stage(t, { WebSocket: null });
  live.watch("quote", "AAPL");
  (await server.requests.next()).answer(503, {}, { "retry-after": "7" });
  await until(live.connection, status("waiting"));
  assert.ok(clock.delays.includes(7_500));
});

for (const [code, why] of Object.entries({ 400: 4100, 403: 4102, 413: 4104, 422: 4100 })) {
  test(`a stream refused with ${code} is not asked for again`, async (t) => {
    const { live, server } = await stage(t, { WebSocket: null });
    live.watch("quote", "AAPL");
    (await server.requests.next()).answer(Number(code), {});
    const { error } = await until(live.connection, status("refused"));
    assert.equal(error.code, `live.${why}`);
  });
}

test("a stream held back by a proxy is given up, and items are asked for one by one", async (t) => {
  const staged = await stage(t, { WebSocket: null });
  staged.live.watch("quote", "AAPL");
  for (let number = 0; number < 3; number++) {
    const { request } = await asked(staged);
    assert.equal(request.url, "/v1/live/stream");
    await staged.clock.pass(10_000);
  }
  const { request } = await asked(staged);
  assert.equal(`${request.method} ${request.url}`, "GET /v1/items/quote/AAPL");
});

test("an item is asked for, then waited for with its version", async (t) => {
  const { get, item, live, server, clock } = await polling(t);
  assert.equal(get.request.headers.prefer, undefined, "the first answer is not waited for");
  assert.equal(get.request.headers.authorization, `Bearer ${TOKEN}`);
  get.answer(200, { ...golden.item.answer, state: SERVER.state_waiting_for_budget });
  const { data, waitingFor } = await until(item, ({ status: is }) => is === "ready");
  assert.deepEqual([data, waitingFor], [golden.item.answer.value, "budget"]);
  assert.deepEqual([live.connection.getSnapshot().status, live.connection.getSnapshot().transport], ["open", "poll"]);
  await clock.pass(1_000);
  const second = await server.requests.next();
  assert.equal(second.request.headers.prefer, "wait=20");
  assert.equal(second.request.headers["if-none-match"], `"${golden.item.answer.version}"`);
  await clock.pass(20_000);
  second.answer(304, undefined, { "livewell-age": "12", "livewell-fresh": "59988" });
  await until(item, ({ age }) => age() === 12);
  await clock.pass(0);
  const third = await server.requests.next();
  third.answer(200, { ...golden.item.answer, value: { price: 2 }, version: "2" });
  await until(item, ({ version }) => version === "2");
});

test("a server that does not wait is asked every five seconds, not without a pause", async (t) => {
  const { get, item, server, clock } = await polling(t);
  get.answer(200, golden.item.answer);
  await until(item, ({ status: is }) => is === "ready");
  await clock.pass(1_000);
  const second = await server.requests.next();
  second.answer(304, undefined, { "livewell-age": "5" });
  await until(item, ({ age }) => age() === 5);
  await clock.pass(4_999);
  assert.deepEqual(server.requests.rest, []);
  await clock.pass(1);
  await server.requests.next();
});

test("of many items four are asked for at a time, each in its turn", async (t) => {
  const { get, live, server, clock } = await polling(t);
  const items = Array.from({ length: 9 }, (_, number) => live.watch("quote", `K${number}`).item);
  const seen = [];
  const answer = (asking) => {
    const key = asking.request.url.split("/").at(-1);
    seen.push(key);
    asking.answer(200, { ...golden.item.answer, key });
    return until(live.item("quote", key), ({ status: is }) => is === "ready");
  };
  await clock.pass(0);
  const three = [await server.requests.next(), await server.requests.next(), await server.requests.next()];
  assert.deepEqual(server.requests.rest, []);
  for (const asking of [get, ...three]) await answer(asking);
  for (let round = 0; round < 2; round++) {
    await clock.pass(1_000);
    for (let number = 0; number < (round ? 2 : 4); number++) await answer(await server.requests.next());
  }
  assert.deepEqual(seen.sort(), ["AAPL", ...items.map(({ key }) => key)]);
  const waiting = [await server.requests.next(), await server.requests.next()];
  assert.deepEqual(waiting.map(({ request }) => request.headers.prefer), ["wait=8", "wait=8"]);
});

test("an item that is refused by GET is refused alone", async (t) => {
  const { get, item, live, server, clock } = await polling(t);
  const secret = live.watch("salary", "4711").item;
  await clock.pass(0);
  (await server.requests.next()).answer(403, golden.item.error);
  await until(secret, ({ status: is }) => is === "refused");
  assert.deepEqual(secret.getSnapshot().error, golden.item.error);
  get.answer(200, golden.item.answer);
  await until(item, ({ status: is }) => is === "ready");
  await clock.pass(2_000);
  assert.equal((await server.requests.next()).request.url, "/v1/items/quote/AAPL");
  assert.deepEqual(server.requests.rest, []);
});

test("who looks no more does not go on waiting", async (t) => {
  const { get, item, watch, server, clock, live } = await polling(t);
  get.answer(200, golden.item.answer);
  await until(item, ({ status: is }) => is === "ready");
  await clock.pass(1_000);
  const waiting = await server.requests.next();
  watch.stop();
  await clock.pass(1_000);
  await waiting.gone;
  assert.equal(live.connection.getSnapshot().status, "open");
});

test("when nothing gets through, the first way is tried again", async (t) => {
  const staged = await stage(t);
  staged.server.upgrades = false;
  const { item } = staged.live.watch("quote", "AAPL");
  (await asked(staged)).answer(404, {});
  for (let number = 0; number < 3; number++) (await asked(staged)).response.destroy();
  staged.server.upgrades = true;
  let peer;
  staged.server.peers.next().then((came) => (peer = came));
  while (!peer) await staged.clock.pass(100);
  peer.say(SERVER.hello, SERVER.row);
  await until(item, ({ status: is }) => is === "ready");
  assert.equal(staged.live.connection.getSnapshot().transport, "websocket");
});

test("after five minutes, or when the machine is online again, the best way is tried first", async (t) => {
  const staged = await stage(t);
  const { server, live, clock, page } = staged;
  server.upgrades = false;
  live.watch("quote", "AAPL");
  const stream = await asked(staged);
  stream.stream({ ...SERVER.hello, ping: 600_000 });
  await until(live.connection, status("open"));
  await clock.pass(300_001);
  server.upgrades = true;
  stream.response.destroy();
  await until(live.connection, status("waiting"));
  while (live.connection.getSnapshot().status === "waiting") await clock.pass(100);
  assert.equal(live.connection.getSnapshot().transport, "websocket");
  server.upgrades = false;
  (await server.peers.next()).socket.terminate();
  const second = await asked(staged);
  second.response.destroy();
  await until(live.connection, status("waiting"));
  server.upgrades = true;
  page.event("online");
  await server.peers.next();
});
