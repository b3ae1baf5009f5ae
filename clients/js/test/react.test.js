import assert from "node:assert/strict";
import { Window } from "happy-dom";
import { test } from "./bounded.js";
import { stage } from "./client.js";
import { golden, until } from "./server.js";

const window = new Window();
for (const name of ["window", "document", "navigator"]) {
  Object.defineProperty(globalThis, name, { value: name === "window" ? window : window[name], configurable: true });
}
globalThis.IS_REACT_ACT_ENVIRONMENT = true;

const { StrictMode, act, createElement: h } = await import("react");
const { createRoot, hydrateRoot } = await import("react-dom/client");
const { renderToString } = await import("react-dom/server");
const { LivewellProvider, useAge, useConnection, useItem } = await import("../react.js");

const { server: SERVER } = golden;

/** A page of one component, whose renderings are counted. */
async function mounted(t, body, { strict = false, ...options } = {}) {
  const staged = await stage(t, options);
  const box = document.createElement("div");
  const root = createRoot(box);
  const counted = { renders: 0 };
  const Component = (props) => {
    counted.renders++;
    return body(props);
  };
  const render = (props = {}) => {
    const page = h(LivewellProvider, { live: staged.live }, h(Component, props));
    return act(async () => root.render(strict ? h(StrictMode, null, page) : page));
  };
  t.after(() => act(async () => root.unmount()));
  await render();
  return { ...staged, box, root, counted, render, text: () => box.textContent };
}

/** Say frames, and let React show them. */
const said = (peer, item, frames, isSo) =>
  act(async () => {
    peer.say(...frames);
    await until(item, isSo);
  });

const Price = ({ name = "AAPL", options }) => {
  const { data, status } = useItem("quote", name, options);
  return `${status} ${data?.price}`;
};

/** The page above, with AAPL there. */
async function shown(t, body, options) {
  const page = await mounted(t, body, options);
  const peer = await page.server.peers.next();
  const hello = await peer.next();
  const item = page.live.item("quote", "AAPL");
  await said(peer, item, [SERVER.hello, SERVER.row], ({ status }) => status === "ready");
  return { ...page, peer, hello, item };
}

test("a component shows an item and is rendered when it changes", async (t) => {
  const page = await mounted(t, Price);
  assert.equal(page.text(), "loading undefined");
  const peer = await page.server.peers.next();
  await peer.next();
  const item = page.live.item("quote", "AAPL");
  await said(peer, item, [SERVER.hello, SERVER.row], ({ status }) => status === "ready");
  assert.equal(page.text(), "ready 187.25");
  await said(peer, item, [SERVER.row_newer], ({ version }) => version === SERVER.row_newer.version);
  assert.equal(page.text(), "ready 188.5");
});

test("three components, mounted twice by StrictMode, are one subscription, which ends with the last", async (t) => {
  const Three = () => [1, 2, 3].map((key) => h(Price, { key }));
  const { peer, hello, root, clock, text } = await shown(t, Three, { strict: true });
  assert.deepEqual(hello, [{ frame: "hello", items: [{ type: "quote", key: "AAPL" }] }]);
  await clock.pass(10_000);
  assert.deepEqual(peer.messages.rest, []);
  assert.equal(text(), "ready 187.25".repeat(3));
  await act(async () => root.render(null));
  await clock.pass(1_000);
  assert.deepEqual(await peer.next(), [{ frame: "drop", items: [{ type: "quote", key: "AAPL" }] }]);
});

test("another key is another item", async (t) => {
  const { peer, render, clock, text } = await shown(t, Price);
  await render({ name: "MSFT" });
  assert.equal(text(), "loading undefined");
  assert.deepEqual(await peer.next(), [golden.client.watch]);
  await clock.pass(1_000);
  assert.equal((await peer.next())[0].frame, "drop");
});

test("what is not enabled is not looked at", async (t) => {
  const { server, render, clock, text, live } = await mounted(t, ({ enabled = false }) => Price({ options: { enabled } }));
  await clock.pass(5_000);
  assert.equal(server.connections, 0);
  assert.equal(text(), "loading undefined");
  await render({ enabled: true });
  const peer = await server.peers.next();
  await peer.next();
  const item = live.item("quote", "AAPL");
  await said(peer, item, [SERVER.hello, SERVER.row], ({ status }) => status === "ready");
  assert.equal(text(), "ready 187.25");
  await render({ enabled: false });
  await clock.pass(1_000);
  assert.equal((await peer.next())[0].frame, "drop");
});

test("a component is rendered for what it reads and for nothing else", async (t) => {
  const { peer, item, counted } = await shown(t, () => useItem("quote", "AAPL").data?.price);
  const before = counted.renders;
  await said(peer, item, [SERVER.age], ({ age }) => age() === 12);
  await said(peer, item, [SERVER.state_refreshing], ({ isRefreshing }) => isRefreshing);
  assert.equal(counted.renders, before);
  await said(peer, item, [SERVER.row_newer], ({ version }) => version === SERVER.row_newer.version);
  assert.equal(counted.renders, before + 1);
});

test("what is read later is as it is then", async (t) => {
  let view;
  const { peer, item } = await shown(t, () => void (view = useItem("quote", "AAPL")).data);
  await said(peer, item, [SERVER.state_refreshing], ({ isRefreshing }) => isRefreshing);
  assert.equal(view.isRefreshing, true);
  assert.deepEqual(Object.keys(view).sort(), Object.keys(item.getSnapshot()).sort());
});

test("a selection that is the same renders nothing, and keeps its identity", async (t) => {
  const seen = new Set();
  const body = () => {
    const { data } = useItem("quote", "AAPL", { select: ({ symbol }) => ({ symbol, tags: "none" }) });
    seen.add(data);
    return data?.symbol;
  };
  const { peer, item, counted, render, text } = await shown(t, body);
  const before = counted.renders;
  await said(peer, item, [SERVER.row_newer], ({ version }) => version === SERVER.row_newer.version);
  assert.equal(counted.renders, before);
  await render();
  assert.deepEqual([...seen], [undefined, { symbol: "AAPL", tags: "none" }]);
  const renamed = { ...SERVER.row, value: { symbol: "APPL" }, version: "9" };
  await said(peer, item, [renamed], ({ version }) => version === "9");
  assert.equal(text(), "APPL");
});

test("a selection without an identity ends, and dates and lists are told apart", async (t) => {
  const body = () => {
    const { data } = useItem("quote", "AAPL", { select: ({ price }) => ({ deep: [new Date(price * 1000)] }) });
    return data?.deep[0].getTime();
  };
  const { peer, item, text } = await shown(t, body);
  assert.equal(text(), "187250");
  await said(peer, item, [SERVER.row_newer], ({ version }) => version === SERVER.row_newer.version);
  assert.equal(text(), "188500");
});

test("another selection is shown at once", async (t) => {
  const body = ({ part = "price" }) => useItem("quote", "AAPL", { select: (quote) => quote[part] }).data;
  const { render, text } = await shown(t, body);
  assert.equal(text(), "187.25");
  await render({ part: "symbol" });
  assert.equal(text(), "AAPL");
});

test("a server shows what is initial, and the page takes over without a difference", async (t) => {
  const { live, server } = await stage(t);
  const page = h(LivewellProvider, { live }, h(Price, { options: { initial: { symbol: "AAPL", price: 1 } } }), h(() => useConnection().status));
  const html = renderToString(page);
  assert.match(html, /loading 1/);
  assert.equal(server.connections, 0, "a server looks at nothing");
  const box = document.createElement("div");
  box.innerHTML = html;
  const mistakes = [];
  let root;
  await act(async () => (root = hydrateRoot(box, page, { onRecoverableError: (error) => mistakes.push(error) })));
  t.after(() => act(async () => root.unmount()));
  const peer = await server.peers.next();
  await peer.next();
  await said(peer, live.item("quote", "AAPL"), [SERVER.hello, SERVER.row], ({ status }) => status === "ready");
  assert.match(box.textContent, /ready 187.25/);
  assert.deepEqual(mistakes, []);
});

test("an age ticks where it is asked for, and nothing else is rendered", async (t) => {
  let others = 0;
  const Age = () => `age ${useAge(useItem("quote", "AAPL"), 10)}`;
  const Other = () => (others++, useItem("quote", "AAPL").status);
  const { clock, text } = await shown(t, () => [h(Age, { key: 1 }), h(Other, { key: 2 })]);
  assert.match(text(), /age 310ready/);
  const before = others;
  clock.sleep(40);
  const isSo = () => text().startsWith("age 350");
  await act(async () => {
    while (!isSo()) await new Promise((done) => setImmediate(done));
  });
  assert.equal(others, before);
});

test("the connection is shown", async (t) => {
  const { live, peer, text } = await shown(t, () => [useConnection().status, useItem("quote", "AAPL").status].join(" "));
  assert.equal(text(), "open ready");
  await act(async () => {
    peer.socket.close(4101, "no");
    await until(live.connection, ({ status }) => status === "refused");
  });
  assert.equal(text(), "refused ready");
});

test("without a provider it is said what is missing", () => {
  assert.throws(() => renderToString(h(Price)), /LivewellProvider/);
});
