import { WebSocket as OfPackage } from "ws";
import { connect } from "../livewell.js";
import { Clock } from "./clock.js";
import { Server } from "./server.js";

/** The platform's own, where it has one. */
export const { WebSocket = OfPackage } = globalThis;

/** A window: its events, and its document's. */
export class Page extends EventTarget {
  document = Object.assign(new EventTarget(), { visibilityState: "visible" });

  show(state) {
    this.document.visibilityState = state;
    this.document.dispatchEvent(new Event("visibilitychange"));
  }

  event(name) {
    this.dispatchEvent(new Event(name));
  }
}

/** A server, and a client of it whose time is in the test's hands. */
export async function stage(test, options = {}) {
  const server = await Server.start(test);
  const clock = new Clock();
  const page = new Page();
  const errors = [];
  const { now, setTimeout, clearTimeout } = clock;
  const onError = (error) => errors.push(error);
  const live = connect({ url: server.url, WebSocket, page, now, setTimeout, clearTimeout, random: () => 1, onError, ...options });
  test.after(() => live.close());
  return { server, clock, page, live, errors };
}

/** The same, with a watch of AAPL and its value there. */
export async function ready(test, options = {}) {
  const { golden, until } = await import("./server.js");
  const staged = await stage(test, options);
  const watch = staged.live.watch("quote", "AAPL");
  const peer = await staged.server.peers.next();
  const hello = await peer.next();
  peer.say(golden.server.hello, golden.server.row);
  await until(watch.item, ({ status }) => status === "ready");
  return { ...staged, watch, item: watch.item, peer, hello };
}
