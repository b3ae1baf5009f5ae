import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "./bounded.js";
import { stage } from "./client.js";
import { settled } from "./clock.js";
import { golden } from "./server.js";

const KEYS = ["A", "B", "C", "D", "E"];
const EXAMPLES = 40;
const STEPS = 40;

/** Chance that can be had again, by its seed. */
function chance(seed) {
  let state = seed + 1;
  const next = () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
  const one = (list) => list[Math.floor(next() * list.length)];
  return { next, one };
}

/** A gateway by the book: sessions have lists, a hello makes the list exact, and who watches is told what he lacks. */
class Gateway {
  sessions = new Map();
  lines = new Map();
  versions = new Map(KEYS.map((key) => [key, 1]));

  constructor(server) {
    this.server = server;
  }

  async serveSockets() {
    for (;;) {
      const peer = await this.server.peers.next();
      const line = { say: (frames) => peer.say(...frames), end: (code) => (code ? peer.socket.close(code) : peer.socket.terminate()) };
      peer.closed.then((code) => this.gone(line, code === 1000));
      this.serve(line, peer);
    }
  }

  async serve(line, peer) {
    for (;;) for (const frame of await peer.next()) this.hear(line, frame);
  }

  async serveStreams() {
    for (;;) {
      const { request, answer, body, stream, response, gone } = await this.server.requests.next();
      if (request.method === "GET") {
        answer(500, {}); // there is no waiting here, so the client returns to the better ways
        continue;
      }
      const line = { say: (frames) => response.writableEnded || stream(...frames), end: (code) => (code ? response.end() : response.destroy()) };
      gone.then(() => this.gone(line, false));
      this.hear(line, { frame: "hello", ...body });
    }
  }

  hear(line, { frame, session, items = [] }) {
    if (frame === "hello") this.hello(line, session);
    const list = this.sessions.get(this.lines.get(line));
    if (frame === "drop") return items.forEach(({ key }) => list.delete(key));
    items.forEach(({ key }) => list.add(key));
    line.say(items.map((item) => this.answer(item)));
  }

  hello(line, session = randomUUID()) {
    for (const [other, its] of this.lines) {
      if (its !== session) continue; // a request may arrive after the one that followed it
      this.lines.delete(other);
      other.say([golden.server.bye_resumed_elsewhere]);
      other.end(4005);
    }
    this.lines.set(line, session);
    this.sessions.set(session, new Set());
    line.say([{ frame: "hello", session, ping: 1e9, items: 1000 }]);
  }

  answer({ type, key, version }) {
    const now = String(this.versions.get(key));
    if (version === now) return { frame: "age", type, key, age: 0, fresh: 1e9 };
    return { frame: "row", type, key, value: now, version: now, age: 0, fresh: 1e9 };
  }

  gone(line, isClean) {
    const session = this.lines.get(line);
    this.lines.delete(line);
    if (isClean) this.sessions.delete(session);
  }

  put(key) {
    this.versions.set(key, this.versions.get(key) + 1);
    for (const [line, session] of this.lines) {
      if (this.sessions.get(session).has(key)) line.say([this.answer({ type: "quote", key })]);
    }
  }

  cut(code) {
    for (const line of [...this.lines.keys()]) line.end(code);
  }

  /** What is watched by connections that are there. */
  get watched() {
    return [...new Set([...this.lines.values()].flatMap((session) => [...this.sessions.get(session)]))].sort();
  }
}

/** Any history of watching, stopping, hiding, breaking and storing. */
async function play(t, seed, options) {
  const { next, one } = chance(seed);
  const { live, server, clock, page } = await stage(t, { random: next, ...options });
  const gateway = new Gateway(server);
  gateway.serveSockets();
  gateway.serveStreams();
  const watches = [];
  const steps = {
    watch: () => watches.push(live.watch("quote", one(KEYS))),
    stop: () => watches.length && watches.splice(Math.floor(next() * watches.length), 1)[0].stop(),
    put: () => gateway.put(one(KEYS)),
    cut: () => gateway.cut(one([0, 4000, 4001, 4003, 4005])),
    hide: () => page.show("hidden"),
    show: () => page.show("visible"),
    aside: () => page.event("pagehide"),
    back: () => page.event("pageshow"),
    online: () => page.event("online"),
    renew: () => live.renew(),
    pass: () => clock.pass(one([10, 500, 1_000, 40_000])),
    breathe: () => settled(),
  };
  const often = ["watch", "watch", "stop", "put", "breathe", "breathe", ...Object.keys(steps)];
  const played = [];
  for (let number = 0; number < STEPS; number++) {
    played.push(one(often));
    await steps[played.at(-1)]();
  }
  page.show("visible");
  await clock.pass(1_000);
  const wanted = [...new Set(watches.map(({ item }) => item.key))].sort();
  const isSo = () =>
    String(gateway.watched) === String(wanted) &&
    watches.every(({ item }) => item.getSnapshot().data === String(gateway.versions.get(item.key)));
  for (let turns = 0; !isSo(); turns++) {
    assert.ok(turns < 50_000, `seed ${seed}: ${gateway.watched} instead of ${wanted} after ${played}`);
    if (live.connection.getSnapshot().status === "waiting") await clock.pass(100);
    else if (turns % 2_000 === 1_999) await clock.pass(10_000);
    else await settled();
  }
  live.close();
}

test("whatever happens, the server ends with exactly what is wanted, and the client with its newest version", async (t) => {
  for (let seed = 0; seed < EXAMPLES; seed++) await play(t, seed, {});
});

test("the same holds on the stream", async (t) => {
  for (let seed = 0; seed < EXAMPLES; seed++) await play(t, seed, { WebSocket: null });
});
