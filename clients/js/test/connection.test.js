import assert from "node:assert/strict";
import { test } from "./bounded.js";
import { ready, stage } from "./client.js";
import { settled } from "./clock.js";
import { golden, until } from "./server.js";

const { server: SERVER, client: CLIENT } = golden;
const status = (name) => (connection) => connection.status === name;

/** The next connection, after whatever backoff there is. */
async function nextPeer({ server, live, clock }) {
  await retried({ live, clock });
  return server.peers.next();
}

/** Let the wait for the next attempt end, and no more time go by than that. */
async function retried({ live, clock }) {
  await until(live.connection, status("waiting"));
  while (live.connection.getSnapshot().status === "waiting") await clock.pass(100);
}

test("a broken connection is resumed with session, list and versions, and an age is enough", async (t) => {
  const staged = await ready(t, { token: async () => "header.payload.signature" });
  const { live, item, peer } = staged;
  assert.deepEqual(staged.hello, [CLIENT.hello_with_token]);
  live.watch("quote", "NVDA");
  await peer.next();
  peer.say(SERVER.state_refreshing);
  await until(item, ({ isRefreshing }) => isRefreshing);
  const { data } = item.getSnapshot();
  peer.socket.terminate();
  const again = await nextPeer(staged);
  assert.deepEqual(await again.next(), [CLIENT.hello_resumed]);
  again.say(...golden.server_messages.resumed_unchanged);
  await until(item, ({ age }) => age() === 12);
  assert.equal(item.getSnapshot().data, data);
  assert.equal(item.getSnapshot().isRefreshing, false, "it is idle unless told otherwise");
});

test("the value stays while the connection is away, and grows old", async (t) => {
  const { live, item, peer, clock } = await ready(t);
  peer.socket.terminate();
  await until(live.connection, status("waiting"));
  await clock.pass(100);
  assert.equal(item.getSnapshot().status, "ready");
  assert.equal(item.getSnapshot().age(), 412);
});

for (const [code, word] of Object.entries({ ...golden.close_codes.come_back, 1001: "server's own", 1011: "accident", 4042: "from the future" })) {
  test(`after ${code} (${word}) the client comes back`, async (t) => {
    const staged = await ready(t);
    staged.peer.socket.close(Number(code), word);
    const again = await nextPeer(staged);
    const [{ session }] = await again.next();
    assert.equal(session, code === "4005" ? undefined : SERVER.hello.session);
  });
}

for (const [code, word] of Object.entries({ ...golden.close_codes.stay_away, 4177: "from the future" })) {
  test(`after ${code} (${word}) the client stays away until it is renewed`, async (t) => {
    const { live, item, peer, clock, server } = await ready(t);
    const empty = live.watch("quote", "NVDA").item;
    await peer.next();
    peer.socket.close(Number(code), word);
    const { error } = await until(live.connection, status("refused"));
    assert.deepEqual(error, { code: `live.${code}`, message: word });
    assert.deepEqual(item.getSnapshot().error, error);
    assert.equal(item.getSnapshot().status, "ready");
    assert.equal(empty.getSnapshot().status, "refused");
    await clock.pass(600_000);
    assert.deepEqual(server.peers.rest, []);
    await live.renew();
    const again = await server.peers.next();
    await again.next();
    again.say(SERVER.hello, SERVER.age);
    await until(item, (snapshot) => snapshot.error === null);
  });
}

test("bye tells the code, the reason and when to come back", async (t) => {
  const { live, peer, clock, server } = await ready(t);
  peer.say(...golden.server_messages.leaving);
  peer.socket.close(1000);
  const { error, retryAt } = await until(live.connection, status("waiting"));
  assert.equal(error.message, SERVER.bye_going_away.reason);
  assert.ok(Math.abs(retryAt.getTime() - Date.now() - 2_000) < 1_000);
  await clock.pass(1_500);
  assert.equal(live.connection.getSnapshot().status, "waiting");
  await clock.pass(500);
  await server.peers.next();
});

test("a reason of bye counts for more than the code of the close", async (t) => {
  const { live, peer } = await ready(t);
  peer.say(SERVER.bye_too_slow);
  peer.socket.close(1000);
  const { error } = await until(live.connection, status("waiting"));
  assert.deepEqual(error, { code: "live.4001", message: SERVER.bye_too_slow.reason });
});

test("a server that says bye and does not close is left after a grace", async (t) => {
  const { live, item, peer, clock } = await ready(t);
  peer.say(SERVER.bye_bad_credential, SERVER.age);
  await until(item, ({ age }) => age() === 12);
  assert.equal(live.connection.getSnapshot().status, "open");
  await clock.pass(10_000);
  const { status: is, error } = live.connection.getSnapshot();
  assert.deepEqual([is, error.code], ["refused", "live.4101"]);
});

test("a wait longer than a timer can be does not end at once", async (t) => {
  const { live, peer, clock } = await ready(t);
  peer.say({ ...SERVER.bye_going_away, come_back: 1e12 });
  peer.socket.close(4000);
  await until(live.connection, status("waiting"));
  assert.ok(clock.delays.includes(2 ** 31 - 1));
});

test("backoff is full jitter up to thirty seconds, and ends when a connection has held", async (t) => {
  const { live, peer, clock, server } = await ready(t);
  const waits = [];
  const failing = async () => {
    const before = clock.now();
    await retried({ live, clock });
    waits.push(clock.now() - before);
  };
  await clock.pass(5_000);
  peer.socket.terminate();
  for (let attempt = 0; attempt < 8; attempt++) {
    await failing();
    const next = await server.peers.next();
    await next.next();
    next.say(SERVER.hello);
    await until(live.connection, status("open"));
    next.socket.close(4002);
  }
  assert.deepEqual(waits, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  await failing();
  const held = await server.peers.next();
  await held.next();
  held.say(SERVER.hello);
  await until(live.connection, status("open"));
  await clock.pass(5_000);
  held.socket.terminate();
  waits.length = 0;
  await failing();
  assert.deepEqual(waits, [500]);
});

test("jitter is what chance says", async (t) => {
  const { live, peer, clock } = await ready(t, { random: () => 0.25 });
  peer.socket.terminate();
  await until(live.connection, status("waiting"));
  assert.ok(clock.delays.includes(125));
});

test("an expired token is asked for again, and the client is back at once", async (t) => {
  let number = 0;
  const { peer, server, clock, live } = await ready(t, { token: async () => `token ${++number}` });
  peer.say(SERVER.bye_token_expired);
  peer.socket.close(4003);
  await until(live.connection, status("waiting"));
  await clock.pass(0);
  const [{ token }] = await (await server.peers.next()).next();
  assert.equal(token, "token 2");
});

test("renew sends a new token in the connection, and asks again for what was refused", async (t) => {
  const tokens = ["header.payload.signature", "header.renewed.signature"];
  const { live, peer } = await ready(t, { token: async () => tokens.shift() });
  const { item } = live.watch("salary", "4711");
  await peer.next();
  peer.say(SERVER.no);
  await until(item, ({ status: is }) => is === "refused");
  await live.renew();
  const said = [...(await peer.next()), ...(await peer.next())];
  assert.deepEqual(said, golden.client_messages.token_then_watch);
});

test("renew without a token comes back as nobody", async (t) => {
  const tokens = ["header.payload.signature"];
  const { live, server } = await ready(t, { token: async () => tokens.shift() });
  await live.renew();
  const [hello] = await (await server.peers.next()).next();
  assert.ok(!("token" in hello));
});

test("a token that cannot be had is tried for again", async (t) => {
  let calls = 0;
  const token = async () => {
    if (++calls < 3) throw new Error("the login is away");
    return "header.payload.signature";
  };
  const staged = await stage(t, { token });
  staged.live.watch("quote", "AAPL");
  const { error } = await until(staged.live.connection, status("waiting"));
  assert.match(error.message, /the login is away/);
  const peer = await nextPeer(staged);
  assert.deepEqual(await peer.next(), [CLIENT.hello_with_token]);
});

test("a token that comes too late is not used", async (t) => {
  const held = [];
  const { live, server } = await stage(t, { token: () => new Promise((done) => held.push(done)) });
  live.watch("quote", "AAPL");
  await settled();
  live.renew();
  await settled();
  assert.equal(held.length, 2);
  held[0]("old"), held[1]("new");
  const [{ token }] = await (await server.peers.next()).next();
  assert.equal(token, "new");
  assert.equal(server.connections, 1);
});

test("pings keep a connection, and silence beyond ping and grace ends it", async (t) => {
  const { live, peer, item, clock, server } = await ready(t);
  for (let number = 0; number < 5; number++) {
    await clock.pass(20_000);
    peer.say(SERVER.ping, { ...SERVER.age, age: number });
    await until(item, ({ age }) => age() === number);
  }
  assert.equal(live.connection.getSnapshot().status, "open");
  await clock.pass(29_999);
  assert.equal(live.connection.getSnapshot().status, "open");
  await clock.pass(1);
  assert.equal(live.connection.getSnapshot().status, "waiting");
  assert.equal(await peer.closed, 4200);
  await clock.pass(500);
  assert.equal((await (await server.peers.next()).next())[0].session, SERVER.hello.session);
});

test("a machine that slept listens once more before it gives a connection up", async (t) => {
  const { live, peer, item, clock } = await ready(t);
  clock.sleep(3_600_000);
  await clock.pass(0);
  assert.equal(live.connection.getSnapshot().status, "open");
  peer.say(SERVER.age);
  await until(item, ({ age }) => age() === 12);
  await clock.pass(10_000);
  assert.equal(live.connection.getSnapshot().status, "open");
  clock.sleep(3_600_000);
  await clock.pass(10_000);
  assert.equal(live.connection.getSnapshot().status, "waiting", "and silence then is silence");
});

test("a server that opens and does not greet is left after ten seconds", async (t) => {
  const { live, clock, server } = await stage(t);
  live.watch("quote", "AAPL");
  await (await server.peers.next()).next();
  await clock.pass(9_999);
  assert.equal(live.connection.getSnapshot().status, "connecting");
  await clock.pass(1);
  assert.equal(live.connection.getSnapshot().status, "waiting");
});

for (const [name, text] of Object.entries(golden.bad_server_messages)) {
  test(`a bad message (${name}) ends the connection, and the client comes back`, async (t) => {
    const staged = await ready(t);
    staged.peer.socket.send(text);
    assert.equal(await staged.peer.closed, 4200);
    await (await nextPeer(staged)).next();
    assert.equal(staged.item.getSnapshot().status, "ready");
  });
}

test("a message of bytes is a bad message", async (t) => {
  const { peer } = await ready(t);
  peer.socket.send(Buffer.from(JSON.stringify([SERVER.row_newer])), { binary: true });
  assert.equal(await peer.closed, 4200);
});

test("a connection that nobody needs is closed after a while, and its session with it", async (t) => {
  const { live, peer, watch, clock, server } = await ready(t, { idleAfter: 10_000 });
  watch.stop();
  await clock.pass(1_000);
  assert.equal((await peer.next())[0].frame, "drop");
  await clock.pass(9_999);
  assert.equal(live.connection.getSnapshot().status, "open");
  await clock.pass(1);
  assert.equal(await peer.closed, 1000);
  assert.equal(live.connection.getSnapshot().status, "idle");
  live.watch("quote", "AAPL");
  const [hello] = await (await server.peers.next()).next();
  assert.deepEqual(hello, { frame: "hello", items: CLIENT.watch_with_version.items });
});

test("close ends everything for good", async (t) => {
  const { live, peer, clock, server, page } = await ready(t);
  live.close();
  assert.equal(await peer.closed, 1000);
  assert.equal(clock.next, null);
  live.watch("quote", "MSFT");
  page.event("online"), page.event("pageshow"), page.show("visible");
  await live.renew();
  await clock.pass(60_000);
  assert.equal(live.connection.getSnapshot().status, "closed");
  assert.deepEqual(server.peers.rest, []);
});

test("a hidden page looks no more after a while, and comes back with its versions", async (t) => {
  const { live, page, peer, clock, item } = await ready(t, { hiddenAfter: 10_000 });
  page.show("hidden");
  await clock.pass(9_000);
  page.show("visible");
  page.show("hidden");
  await clock.pass(9_999);
  assert.deepEqual(peer.messages.rest, []);
  await clock.pass(1);
  assert.deepEqual(await peer.next(), [{ frame: "drop", items: [{ type: "quote", key: "AAPL" }] }]);
  live.watch("quote", "MSFT");
  await clock.pass(0);
  assert.deepEqual(peer.messages.rest, [], "what is begun while hidden waits, too");
  assert.equal(item.getSnapshot().status, "ready");
  page.show("visible");
  const [{ items }] = await peer.next();
  assert.deepEqual(items, [...CLIENT.watch_with_version.items, ...CLIENT.watch.items]);
});

test("a page that was hidden from the beginning stops looking, too", async (t) => {
  const { Page } = await import("./client.js");
  const page = new Page();
  page.document.visibilityState = "hidden";
  const { peer, clock } = await ready(t, { page });
  await clock.pass(30_000);
  assert.equal((await peer.next())[0].frame, "drop");
});

test("a page put aside closes its connection, and opens one when it is shown again", async (t) => {
  const { live, page, peer, server, item, clock } = await ready(t);
  page.event("pagehide");
  assert.equal(await peer.closed, 1000);
  await clock.pass(60_000);
  assert.equal(live.connection.getSnapshot().status, "idle");
  page.event("pageshow");
  const [hello] = await (await server.peers.next()).next();
  assert.deepEqual(hello.items, CLIENT.watch_with_version.items);
  assert.equal(item.getSnapshot().status, "ready");
});

for (const back of ["online", "visible"]) {
  test(`${back} ends the wait for the next attempt`, async (t) => {
    const { live, page, peer, server, clock } = await ready(t);
    peer.socket.terminate();
    await until(live.connection, status("waiting"));
    if (back === "online") page.event("online");
    else page.show("visible");
    await (await server.peers.next()).next();
    assert.ok(!clock.delays.includes(500), "the timer is gone with it");
  });
}

test("addresses are below the one given, whatever it ends with", async (t) => {
  const { Server } = await import("./server.js");
  const server = await Server.start(t);
  const { connect } = await import("../livewell.js");
  const { WebSocket } = await import("./client.js");
  const host = server.url.slice("http:".length);
  for (const [url, href] of [[`http:${host}/app`], [`ws:${host}/app//`], ["/app", `${server.url}/page?x#y`]]) {
    const live = connect({ url, WebSocket, page: Object.assign(new EventTarget(), { location: { href } }) });
    t.after(() => live.close());
    live.watch("quote", "AAPL");
    const { request } = await server.peers.next();
    assert.equal(request.url, "/app/v1/live");
  }
});

test("where there is neither WebSocket nor fetch, that is said", async (t) => {
  const { live } = await stage(t, { WebSocket: null, fetch: null });
  const { item } = live.watch("quote", "AAPL");
  const { error } = await until(live.connection, status("refused"));
  assert.equal(error.code, "client.no_way");
  assert.equal(item.getSnapshot().status, "refused");
});
