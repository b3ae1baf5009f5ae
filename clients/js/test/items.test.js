import assert from "node:assert/strict";
import { test } from "./bounded.js";
import { ready, stage } from "./client.js";
import { settled } from "./clock.js";
import { golden, until } from "./server.js";

const { server: SERVER, client: CLIENT } = golden;

test("nothing connects before something is watched", async (t) => {
  const { server, live, clock } = await stage(t);
  const item = live.item("quote", "AAPL");
  await clock.pass(60_000);
  assert.equal(server.connections, 0);
  assert.equal(live.connection.getSnapshot().status, "idle");
  assert.equal(item.getSnapshot().status, "loading");
});

test("the first message is the golden hello, and the greeting fills the items", async (t) => {
  const { server, live } = await stage(t);
  const apple = live.watch("quote", "AAPL").item;
  const nvidia = live.watch("quote", "NVDA").item;
  const peer = await server.peers.next();
  assert.deepEqual(await peer.next(), golden.client_messages.opening);
  assert.equal(peer.request.headers["sec-websocket-protocol"], golden.protocol);
  assert.equal(peer.request.url, "/v1/live");
  peer.say(...golden.server_messages.greeting);
  const snapshot = await until(apple, ({ status }) => status === "ready");
  assert.deepEqual(snapshot.data, SERVER.row.value);
  assert.equal(snapshot.version, SERVER.row.version);
  assert.equal(snapshot.error, null);
  assert.ok(Math.abs(Date.now() - SERVER.row.age - snapshot.fetchedAt.getTime()) < 5_000);
  assert.equal(nvidia.getSnapshot().status, "loading");
  assert.equal(nvidia.getSnapshot().data, undefined);
  assert.equal(nvidia.getSnapshot().age(), null);
  assert.equal(nvidia.getSnapshot().isRefreshing, true);
});

test("three watches of an item are one, and the last stop drops it after lingering", async (t) => {
  const { live, peer, watch, clock } = await ready(t);
  const [second, third] = [live.watch("quote", "AAPL"), live.watch("quote", "AAPL")];
  live.watch("quote", "MSFT");
  assert.deepEqual(await peer.next(), [CLIENT.watch]);
  watch.stop(), second.stop(), second.stop(), second.stop();
  await clock.pass(5_000);
  third.stop();
  await clock.pass(999);
  assert.deepEqual(peer.messages.rest, []);
  await clock.pass(1);
  assert.deepEqual(await peer.next(), [{ frame: "drop", items: [{ type: "quote", key: "AAPL" }] }]);
});

test("a remount within the linger says nothing, and one after it says the version", async (t) => {
  const { live, peer, watch, clock } = await ready(t);
  watch.stop();
  await clock.pass(900);
  const again = live.watch("quote", "AAPL");
  await clock.pass(10_000);
  again.stop();
  await clock.pass(1_000);
  assert.deepEqual(await peer.next(), [{ frame: "drop", items: [{ type: "quote", key: "AAPL" }] }]);
  const late = live.watch("quote", "AAPL");
  assert.deepEqual(late.item.getSnapshot().data, SERVER.row.value, "what is held is shown at once");
  assert.deepEqual(await peer.next(), [CLIENT.watch_with_version]);
});

test("what begins and ends in one turn is one message", async (t) => {
  const { live, peer, watch, clock } = await ready(t);
  watch.stop();
  await clock.pass(999);
  queueMicrotask(() => live.watch("quote", "MSFT"));
  await clock.pass(1);
  const messages = [...(await peer.next()), ...peer.messages.rest.flat()];
  assert.deepEqual(messages, golden.client_messages.one_in_one_out);
});

test("a snapshot is the same object until something changes, and is then another", async (t) => {
  const { item, peer, clock } = await ready(t);
  const before = item.getSnapshot();
  await clock.pass(1_000);
  assert.equal(item.getSnapshot(), before);
  peer.say(SERVER.row_newer);
  const after = await until(item, (snapshot) => snapshot !== before);
  assert.equal(before.data.price, 187.25);
  assert.equal(after.data.price, 188.5);
  assert.throws(() => (after.data = null), TypeError);
});

test("a row replaces the value also when its version is smaller", async (t) => {
  const { item, peer } = await ready(t);
  peer.say(SERVER.row_newer);
  await until(item, ({ version }) => version === SERVER.row_newer.version);
  peer.say(SERVER.row);
  await until(item, ({ version }) => version === SERVER.row.version);
  assert.deepEqual(item.getSnapshot().data, SERVER.row.value);
});

test("an age frame makes the item younger and leaves its value alone", async (t) => {
  const { item, peer, clock } = await ready(t);
  const { data } = item.getSnapshot();
  await clock.pass(5_000);
  assert.equal(item.getSnapshot().age(), 5_312);
  peer.say(SERVER.age);
  await until(item, ({ age }) => age() < 5_000);
  assert.equal(item.getSnapshot().age(), 12);
  assert.equal(item.getSnapshot().data, data);
});

test("an item is stale when its fresh time runs out, with one timer for all", async (t) => {
  const { live, item, peer, clock } = await ready(t);
  const microsoft = live.watch("quote", "MSFT").item;
  await peer.next();
  peer.say(SERVER.row_stale);
  await until(microsoft, ({ status }) => status === "ready");
  assert.equal(microsoft.getSnapshot().isStale, true);
  const listened = [];
  item.subscribe(() => listened.push(item.getSnapshot().isStale));
  peer.say(SERVER.ping);
  await clock.pass(20_000);
  peer.say(SERVER.ping), await settled();
  peer.say({ ...SERVER.row_stale, fresh: 50_000 });
  await until(microsoft, ({ isStale }) => !isStale);
  await clock.pass(20_000);
  assert.ok(clock.delays.filter((delay) => delay === 59_688 - 40_000).length === 1);
  assert.equal(clock.delays.filter((delay) => delay === 30_000).length, 0, "no timer for what is stale later");
  await clock.pass(59_688 - 40_000 - 1);
  assert.equal(item.getSnapshot().isStale, false);
  await clock.pass(1);
  assert.equal(item.getSnapshot().isStale, true);
  assert.deepEqual(listened, [true]);
  assert.equal(microsoft.getSnapshot().isStale, false);
  await clock.pass(30_000 - 59_688 + 40_000);
  assert.equal(microsoft.getSnapshot().isStale, true, "the next one is waited for");
});

test("an age that is past its time makes the item stale", async (t) => {
  const { item, peer } = await ready(t);
  peer.say(SERVER.age_stale);
  const { isStale, age } = await until(item, ({ age }) => age() > 60_000);
  assert.deepEqual([isStale, age()], [true, SERVER.age_stale.age]);
});

test("what is not stored any more is loading again, and never stale", async (t) => {
  const { item, peer } = await ready(t);
  peer.say({ ...SERVER.row_nothing_stored, key: "AAPL" });
  const snapshot = await until(item, ({ status }) => status === "loading");
  assert.deepEqual([snapshot.data, snapshot.fetchedAt, snapshot.age(), snapshot.isStale], [undefined, null, null, false]);
});

test("every golden state is shown", async (t) => {
  const { item, peer } = await ready(t);
  const said = async (frame) => {
    const before = item.getSnapshot();
    peer.say({ ...frame, key: "AAPL" });
    const { isRefreshing, waitingFor, status, waitingUntil } = await until(item, (snapshot) => snapshot !== before);
    const left = waitingUntil && Math.round((waitingUntil.getTime() - Date.now()) / 1000);
    return [isRefreshing, waitingFor, status, left];
  };
  assert.deepEqual(await said(SERVER.state_refreshing), [true, null, "ready", null]);
  assert.deepEqual(await said(SERVER.state_waiting_for_budget), [false, "budget", "ready", 42]);
  assert.deepEqual(await said(SERVER.state_waiting_for_gate), [false, "gate", "ready", 3600]);
  assert.deepEqual(await said(SERVER.state_waiting_for_provider), [false, "provider", "ready", 30]);
  assert.deepEqual(await said(SERVER.state_waiting_for_others), [false, "others", "ready", null]);
  assert.deepEqual(await said(SERVER.state_gone), [false, null, "gone", null]);
  assert.deepEqual(await said(SERVER.row_newer), [false, null, "ready", null]);
  assert.deepEqual(await said(SERVER.state_idle), [false, null, "ready", null]);
});

test("a refused item loses its value, is not asked for again, and leaves the others alone", async (t) => {
  const { live, item, peer, clock } = await ready(t);
  const secret = live.watch("salary", "4711");
  await peer.next();
  peer.say({ ...SERVER.row, type: "salary", key: "4711" });
  await until(secret.item, ({ status }) => status === "ready");
  peer.say(SERVER.no);
  const { data, error, version } = await until(secret.item, ({ status }) => status === "refused");
  assert.deepEqual([data, version], [undefined, undefined]);
  assert.deepEqual(error, { code: SERVER.no.code, message: SERVER.no.message, fix: SERVER.no.fix });
  const another = live.watch("salary", "4711");
  await clock.pass(1_000);
  assert.deepEqual(peer.messages.rest, []);
  assert.equal(item.getSnapshot().status, "ready");
  secret.stop(), another.stop();
  await clock.pass(1_000);
  assert.deepEqual(peer.messages.rest, [], "it is not watched, so there is nothing to drop");
  live.watch("salary", "4711");
  assert.deepEqual(await peer.next(), [{ frame: "watch", items: [{ type: "salary", key: "4711" }] }]);
});

test("a row after a refusal is believed", async (t) => {
  const { item, peer, watch, clock } = await ready(t);
  peer.say({ ...SERVER.no, type: "quote", key: "AAPL" });
  await until(item, ({ status }) => status === "refused");
  peer.say(SERVER.row);
  await until(item, ({ status, error }) => status === "ready" && !error);
  watch.stop();
  await clock.pass(1_000);
  assert.deepEqual((await peer.next())[0].frame, "drop");
});

test("a listener that throws does not keep the others from hearing", async (t) => {
  const { live, peer, errors } = await ready(t);
  const heard = [];
  live.watch("quote", "AAPL", () => {
    throw new Error("mine");
  });
  live.watch("quote", "AAPL", ({ data }) => heard.push(data.price));
  await settled();
  peer.say(SERVER.row_newer, SERVER.age);
  await until(live.item("quote", "AAPL"), ({ version }) => version === SERVER.row_newer.version);
  assert.deepEqual(heard, [187.25, 188.5], "with what is known at once, then once per message");
  assert.deepEqual(errors.map(({ message }) => message), ["mine", "mine"]);
});

test("a callback that has stopped is not called any more", async (t) => {
  const { live, peer, item } = await ready(t);
  let calls = 0;
  live.watch("quote", "AAPL", () => calls++).stop();
  peer.say(SERVER.row_newer);
  await until(item, ({ version }) => version === SERVER.row_newer.version);
  assert.equal(calls, 0);
});

test("frames and fields from the future are passed over", async (t) => {
  const { live, item, peer } = await ready(t);
  peer.say(SERVER.row_newer);
  await until(item, ({ version }) => version === SERVER.row_newer.version);
  peer.say(...golden.server_messages.from_the_future);
  await until(item, ({ version }) => version === SERVER.row.version);
  peer.say(...golden.server_messages.empty);
  peer.say({ ...SERVER.row, key: "ZZZ" });
  peer.say(SERVER.row_newer);
  await until(item, ({ version }) => version === SERVER.row_newer.version);
  assert.equal(live.connection.getSnapshot().status, "open");
});

test("keys are any text", async (t) => {
  const { live, peer } = await ready(t);
  const { key, value } = SERVER.row_key_with_marks;
  const rate = live.watch("rate", key).item;
  assert.deepEqual(await peer.next(), [CLIENT.watch_key_with_marks]);
  peer.say(SERVER.row_key_with_marks);
  assert.deepEqual((await until(rate, ({ status }) => status === "ready")).data, value);
  const hostile = live.watch("rate", "__proto__").item;
  await peer.next();
  peer.say({ ...SERVER.row_key_with_marks, key: "__proto__", value: JSON.parse('{"__proto__": {"owned": true}}') });
  await until(hostile, ({ status }) => status === "ready");
  assert.equal({}.owned, undefined);
});

test("a large value is fetched by GET with the token, and what there was stays until it has come", async (t) => {
  const { live, server, peer } = await ready(t, { token: async () => "header.payload.signature" });
  const large = live.watch("statements", "AAPL").item;
  await peer.next();
  peer.say({ ...SERVER.row_large, large: undefined, value: "old", version: "1.old" });
  await until(large, ({ data }) => data === "old");
  peer.say(SERVER.row_large);
  const asked = await server.requests.next();
  assert.equal(asked.request.url, "/v1/items/statements/AAPL");
  assert.equal(asked.request.headers.authorization, "Bearer header.payload.signature");
  peer.say({ ...SERVER.age, type: "statements", age: 4_000 });
  await until(large, ({ age }) => age() < 5_000);
  assert.equal(large.getSnapshot().data, "old");
  asked.answer(200, { ...golden.item.answer, type: "statements", value: "new", version: SERVER.row_large.version });
  await until(large, ({ data }) => data === "new");
  peer.say({ ...SERVER.row_large, age: 77 });
  await until(large, ({ age }) => age() === 77);
  assert.equal(large.getSnapshot().data, "new", "what is held already is not fetched again");
  assert.deepEqual(server.requests.rest, []);
});

test("a GET that fails is tried again, and one overtaken by another row is not believed", async (t) => {
  const { live, server, peer, clock } = await ready(t);
  const large = live.watch("statements", "AAPL").item;
  await peer.next();
  peer.say(SERVER.row_large);
  (await server.requests.next()).answer(500, {});
  await until(large, ({ error }) => error?.code === "client.large_value");
  await clock.pass(500);
  const second = await server.requests.next();
  peer.say({ ...SERVER.row_large, large: undefined, value: "small by now", version: "2.new" });
  await until(large, ({ data }) => data === "small by now");
  second.answer(200, { ...golden.item.answer, value: "late" });
  await second.gone;
  await clock.pass(0);
  assert.equal(large.getSnapshot().data, "small by now");
});

test("what nobody watches is forgotten, the oldest first, and what is watched never", async (t) => {
  const { live, clock, item, peer } = await ready(t);
  const watches = Array.from({ length: 300 }, (_, number) => live.watch("quote", `K${number}`));
  await peer.next();
  peer.say(...watches.map(({ item: { key } }) => ({ ...SERVER.row, key })));
  await until(watches[299].item, ({ status }) => status === "ready");
  for (const watch of watches) watch.stop();
  await clock.pass(1_000);
  const known = watches.map(({ item }) => item.getSnapshot().status === "ready");
  assert.deepEqual(known, watches.map((_, number) => number >= 100));
  assert.equal(item.getSnapshot().status, "ready");
});
