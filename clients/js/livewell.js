import { Known, NOTHING } from "./items.js";

/**
 * @import * as api from "./livewell.d.ts"
 * @import { Line, Opened, Way } from "./http.js"
 */

const OPEN_WITHIN = 10_000; // until the server's hello
const GRACE = 10_000; // beyond the longest silence the server promised
const HELD_FOR = 5_000; // a connection that held for so long ends a series of attempts
const BACKOFF = 500;
const BACKOFF_MOST = 30_000;
const FAILURES = 3; // to open, then the next way is taken
const FIRST_AGAIN = 300_000; // after which the best way is tried again
const UNWATCHED_KEPT = 200; // values kept for who comes back
const COME_BACK = 4200; // we close, and come back; a browser cannot send 1003
const NO_SUCH_WAY = 4299;
const LONGEST_TIMER = 2 ** 31 - 1; // a longer one would fire at once

/** @type {typeof api.connect} */
export const connect = (options) => new Live(options);

/**
 * What is watched, and the one connection by which the server knows it.
 *
 * Whatever happens (a watch, a stop, a page that is hidden, a new connection), `#reconcile` compares what is wanted with what the
 * server was told, and tells the difference. So no order of events can leave the two apart.
 *
 * @implements {api.Live}
 */
class Live {
  #options;
  #now;
  /** @type {URL} */
  #base;
  /** @type {Map<string, Known>} */
  #known = new Map();
  /** What nobody watches any more, and until when it is kept watched. @type {Map<Known, number>} */
  #leaving = new Map();
  /** What the server was told that we watch. @type {Set<Known>} */
  #told = new Set();
  /** @type {Opened | null} */
  #line = null;
  #greeted = false; // our hello is sent
  /** @type {number | null} */
  #openSince = null; // the server's has come
  #heardAt = 0;
  #patience = OPEN_WITHIN;
  /** Raised whenever a connection is given up: what comes late is none of ours. */
  #turn = 0;
  #attempts = 0;
  #failures = 0;
  #denied = false; // the last token we showed
  /** @type {[api.Transport, () => Way | Promise<Way>][]} */
  #ways = [];
  #way = 0;
  #fellBackAt = 0;
  /** In memory only: a duplicated tab copies what is stored. @type {string | undefined} */
  #session;
  /** @type {string | undefined} */
  #token;
  /** @type {{ code: number, reason: string, come_back?: number | null } | null} */
  #bye = null;
  #away = false; // the page is hidden for a while, or put aside
  #reconciling = false;
  /** @type {Map<string, unknown>} Running timers, by what they are for. */
  #timers = new Map();
  #staleNext = Infinity;
  /** @type {Set<() => void>} */
  #connectionListeners = new Set();
  /** @type {api.Connection} */
  #state = Object.freeze({ status: "idle", transport: null, error: null, retryAt: null });
  /** @type {() => void} */
  #deafen;

  /** @param {api.Options} options */
  constructor(options) {
    const page = options.page === undefined ? /** @type {api.Page} */ (globalThis) : options.page;
    this.#options = {
      linger: 1_000,
      hiddenAfter: 30_000,
      idleAfter: 30_000,
      random: Math.random,
      setTimeout: (/** @type {() => void} */ then, /** @type {number} */ delay) => setTimeout(then, delay),
      clearTimeout: (/** @type {any} */ timer) => clearTimeout(timer),
      onError: globalThis.reportError ?? console.error,
      fetch: globalThis.fetch?.bind(globalThis),
      WebSocket: /** @type {api.SocketClass | undefined} */ (globalThis.WebSocket),
      ...options,
    };
    this.#now = options.now ?? (() => performance.now());
    this.#base = new URL(options.url, page?.location?.href);
    this.#base.protocol = this.#base.protocol.replace("ws", "http");
    this.#base.pathname = this.#base.pathname.replace(/\/*$/, "/");
    const { WebSocket } = this.#options;
    if (WebSocket) this.#ways.push(["websocket", () => socketWay(WebSocket)]);
    if (this.#options.fetch) {
      this.#ways.push(["stream", async () => (await http()).openStream], ["poll", async () => (await http()).openPolling]);
    }
    this.#deafen = this.#hearPage(page);
  }

  /** @type {api.Live["watch"]} */
  watch(type, key, callback) {
    const item = this.item(type, key);
    let stopped = false;
    const changed = () => stopped || callback?.(item.getSnapshot());
    const leave = item.subscribe(changed);
    const before = item.getSnapshot();
    if (before.status !== "loading") queueMicrotask(() => item.getSnapshot() === before && this.#call(changed));
    return { item, stop: () => ((stopped = true), leave()) };
  }

  /** @type {api.Live["item"]} */
  item(type, key) {
    const id = JSON.stringify([type, key]);
    return {
      type,
      key,
      subscribe: (listener) => this.#subscribe(id, type, key, listener),
      getSnapshot: () => this.#known.get(id)?.snapshot ?? NOTHING,
    };
  }

  /** @type {api.Store<api.Connection>} */
  connection = {
    subscribe: (listener) => {
      const own = () => listener();
      this.#connectionListeners.add(own);
      return () => void this.#connectionListeners.delete(own);
    },
    getSnapshot: () => this.#state,
  };

  async renew() {
    if (this.#state.status === "closed") return;
    for (const [id, known] of this.#known) {
      if (!known.watchers) this.#known.delete(id), this.#leaving.delete(known);
      known.refused = false;
    }
    this.#denied = false;
    const line = this.#line;
    if (!line || !this.#greeted) return this.#again();
    const token = await this.#options.token?.();
    if (line !== this.#line) return;
    this.#token = token;
    if (!token || !line.tell([{ frame: "token", token }])) return this.#again();
    this.#reconcile();
  }

  close() {
    this.#shut(1000);
    this.#deafen();
    for (const name of [...this.#timers.keys()]) this.#stop(name);
    this.#say("closed");
  }

  // Who looks at what

  /** @param {string} id @param {string} type @param {string} key @param {() => void} listener */
  #subscribe(id, type, key, listener) {
    const known = this.#known.get(id) ?? new Known(type, key, this.#now);
    const own = () => listener();
    if (!known.watchers++) {
      this.#known.delete(id); // what was watched last is forgotten last
      this.#known.set(id, known);
    }
    this.#leaving.delete(known);
    known.listeners.add(own);
    this.#wake();
    return () => {
      if (!known.listeners.delete(own) || --known.watchers) return;
      this.#leaving.set(known, this.#now() + this.#options.linger);
      if (!this.#timers.has("leave")) this.#after("leave", this.#options.linger, () => this.#letGo());
    };
  }

  #letGo() {
    let next = Infinity;
    for (const [known, until] of this.#leaving) {
      if (until > this.#now()) next = Math.min(next, until);
      else {
        this.#leaving.delete(known);
        if (known.refused) known.forget(), known.show();
      }
    }
    if (next < Infinity) this.#after("leave", next - this.#now(), () => this.#letGo());
    const unwatched = [...this.#known].filter(([, known]) => !known.watchers && !this.#leaving.has(known));
    for (const [id] of unwatched.slice(0, -UNWATCHED_KEPT)) this.#known.delete(id);
    this.#wake();
  }

  #wanted() {
    if (this.#away) return [];
    return [...this.#known.values()].filter((known) => !known.refused && (known.watchers || this.#leaving.has(known)));
  }

  #wake() {
    if (this.#reconciling) return;
    this.#reconciling = true;
    queueMicrotask(() => {
      this.#reconciling = false;
      this.#reconcile();
    });
  }

  #reconcile() {
    const { status } = this.#state;
    if (status === "closed") return;
    const wanted = new Set(this.#wanted());
    if (wanted.size) this.#stop("idle");
    else if (status !== "idle" && !this.#timers.has("idle")) this.#after("idle", this.#options.idleAfter, () => this.#rest());
    if (status === "idle" && wanted.size) this.#open();
    if (!this.#line || !this.#greeted) return;
    const more = [...wanted].filter((known) => !this.#told.has(known)).map((known) => known.asked());
    const less = [...this.#told].filter((known) => !wanted.has(known)).map(({ type, key }) => ({ type, key }));
    if (!more.length && !less.length) return;
    this.#told = wanted;
    /** @type {api.ClientFrame[]} */
    const frames = [];
    if (more.length) frames.push({ frame: "watch", items: more });
    if (less.length) frames.push({ frame: "drop", items: less });
    if (!this.#line.tell(frames)) this.#again();
  }

  // The connection

  async #open() {
    const turn = ++this.#turn;
    if (this.#way && this.#now() - this.#fellBackAt > FIRST_AGAIN) this.#way = 0;
    const [, way] = this.#ways[this.#way] ?? [];
    if (!way) return this.#refused({ code: "client.no_way", message: "there is neither WebSocket nor fetch here" });
    this.#stop("retry");
    this.#say("connecting", this.#state.error);
    this.#heardAt = this.#now();
    this.#expect(OPEN_WITHIN);
    const mine = (/** @type {(...what: any) => void} */ then) => (/** @type {any[]} */ ...what) => {
      if (turn === this.#turn) then(...what);
    };
    try {
      const [open, token] = await Promise.all([way(), this.#options.token?.()]);
      if (turn !== this.#turn) return;
      this.#token = token;
      this.#line = open(this.#lineOf(mine), {
        message: mine((text) => this.#message(text)),
        frames: mine((frames) => this.#frames(frames)),
        alive: mine(() => (this.#heardAt = this.#now())),
        closed: mine((code, reason, comeBack) => this.#closed(code, reason, comeBack)),
      });
    } catch (error) {
      if (turn === this.#turn) this.#closed(1006, String(error));
    }
  }

  /** @param {(then: () => void) => () => void} mine @returns {Line} */
  #lineOf(mine) {
    return {
      ...this.#http(),
      wait: (then, delay) => this.#options.setTimeout(mine(then), delay),
      now: this.#now,
      hello: () => {
        this.#greeted = true;
        const wanted = this.#wanted();
        this.#told = new Set(wanted);
        const items = wanted.map((known) => known.asked());
        return { token: this.#token, session: this.#session, items };
      },
      wanted: () => [...this.#told].filter((known) => !known.refused),
    };
  }

  #http() {
    return {
      at: (/** @type {string} */ path) => new URL(path, this.#base),
      token: this.#token,
      fetch: /** @type {typeof fetch} */ (this.#options.fetch),
    };
  }

  /** @param {unknown} text */
  #message(text) {
    this.#heardAt = this.#now();
    const frames = framesOf(text);
    if (frames) return this.#frames(frames);
    this.#closed(COME_BACK, "a message that is none");
  }

  /** @param {api.ServerFrame[]} frames */
  #frames(frames) {
    /** @type {Set<Known>} */
    const changed = new Set();
    for (const frame of frames) {
      if (frame.frame === "hello") this.#hello(frame);
      else if (frame.frame === "bye") (this.#bye = frame), this.#expect(GRACE);
      else if ("key" in frame) this.#hear(frame, changed);
    }
    this.#tell(changed);
  }

  /** @param {Extract<api.ServerFrame, { frame: "hello" }>} frame */
  #hello({ session, ping }) {
    this.#session = session;
    this.#openSince = this.#now();
    this.#failures = 0;
    this.#denied = false;
    this.#expect(ping ? ping + GRACE : Infinity);
    this.#say("open");
  }

  /** @param {api.ItemFrame} frame @param {Set<Known>} changed */
  #hear(frame, changed) {
    const known = this.#known.get(JSON.stringify([frame.type, frame.key]));
    if (!known) return;
    if (frame.frame === "no") this.#told.delete(known);
    else if (known.refused && frame.frame !== "state") this.#told.add(known), this.#wake();
    if (frame.frame === "row" && frame.large) {
      if (frame.version !== known.version) return void this.#load(known);
      frame = { ...frame, frame: "age" };
    }
    known.hear(frame);
    changed.add(known);
  }

  /** A value too large for a frame. What there was stays until it has come. @param {Known} known */
  async #load(known, tries = 0) {
    const loading = (known.loading = {});
    try {
      const { getItem } = await http();
      const frames = await getItem(this.#http(), { type: known.type, key: known.key });
      if (known.loading === loading) this.#frames(frames);
    } catch (error) {
      if (known.loading !== loading) return;
      known.fail({ code: "client.large_value", message: String(error) });
      this.#tell(new Set([known]));
      const again = () => known.loading === loading && this.#told.has(known) && this.#load(known, tries + 1);
      this.#options.setTimeout(again, this.#jitter(tries));
    }
  }

  /** @param {Set<Known>} changed */
  #tell(changed) {
    for (const known of changed) {
      known.show();
      if (known.staleAt > this.#now()) this.#staleAt(known.staleAt);
    }
    for (const known of changed) for (const listener of [...known.listeners]) this.#call(listener);
  }

  /** One timer for the item that is stale next. @param {number} time */
  #staleAt(time) {
    if (time >= this.#staleNext) return;
    this.#staleNext = time;
    this.#after("stale", time - this.#now(), () => {
      this.#staleNext = Infinity;
      const now = this.#now();
      const watched = [...this.#known.values()];
      this.#tell(new Set(watched.filter((known) => known.staleAt <= now && !known.snapshot.isStale)));
      const next = Math.min(...watched.map(({ staleAt }) => (staleAt > now ? staleAt : Infinity)));
      if (next < Infinity) this.#staleAt(next);
    });
  }

  /** @param {number} code @param {string} reason @param {number | null} [comeBack] */
  #closed(code, reason, comeBack) {
    if (this.#bye) ({ code, reason, come_back: comeBack } = this.#bye);
    const openFor = this.#openSince === null ? -1 : this.#now() - this.#openSince;
    this.#shut();
    if (code === 4005) this.#session = undefined;
    if (code === 401) [code, this.#denied] = [this.#denied ? 4101 : 4003, true];
    const error = { code: `live.${code}`, message: reason || `the connection was closed (${code})` };
    if (code >= 4100 && code < 4200) return this.#refused(error);
    if (openFor >= HELD_FOR) this.#attempts = 0;
    if (openFor < 0 && (code < 4000 || code >= 4200)) this.#fall(code);
    let delay = this.#jitter(this.#attempts++);
    if (code === 4003 && this.#attempts === 1) delay = 0;
    if (typeof comeBack === "number") delay = comeBack + this.#jitter(0);
    this.#after("retry", delay, () => this.#again());
    this.#say("waiting", error, new Date(Date.now() + delay));
  }

  /** This way did not open: after some times, or where there is none, the next is taken. @param {number} code */
  #fall(code) {
    if (++this.#failures < FAILURES && code !== NO_SUCH_WAY) return;
    this.#failures = 0;
    this.#way = (this.#way + 1) % this.#ways.length;
    this.#fellBackAt = this.#now();
  }

  /** @param {api.Problem} error */
  #refused(error) {
    this.#say("refused", error);
    const wanted = this.#wanted();
    for (const known of wanted) known.fail(error);
    this.#tell(new Set(wanted));
  }

  /** @param {number} attempts */
  #jitter(attempts) {
    return this.#options.random() * Math.min(BACKOFF_MOST, BACKOFF * 2 ** attempts);
  }

  /** A new connection in place of the one there is, if something is wanted. */
  #again() {
    if (this.#state.status === "closed") return;
    this.#shut();
    this.#stop("retry");
    if (this.#wanted().length) this.#open();
    else this.#say("idle");
  }

  /** Nobody needs it: the session ends with its connection. */
  #rest() {
    this.#shut(1000);
    this.#stop("retry");
    this.#session = undefined;
    this.#say("idle");
  }

  #shut(code = COME_BACK) {
    this.#turn++;
    this.#line?.close(code);
    this.#line = this.#openSince = this.#bye = null;
    this.#greeted = false;
    this.#told = new Set();
    this.#stop("listen");
  }

  /** @param {number} patience */
  #expect(patience) {
    this.#patience = patience;
    this.#listen(patience);
  }

  /** Take a silent connection for dead. A machine that slept has not listened, and is given a grace. @param {number} delay */
  #listen(delay) {
    if (delay === Infinity) return this.#stop("listen");
    const due = this.#now() + delay;
    this.#after("listen", delay, () => {
      const left = this.#heardAt + this.#patience - this.#now();
      if (left > 0) this.#listen(left);
      else if (this.#now() - due > 1000) this.#listen(GRACE);
      else this.#closed(1006, "the server is silent");
    });
  }

  // The page

  /** @param {api.Page | null} page @returns {() => void} */
  #hearPage(page) {
    const { document } = page ?? {};
    const visibility = () => {
      if (document?.visibilityState === "hidden") this.#after("hidden", this.#options.hiddenAfter, () => this.#leave());
      else this.#stop("hidden"), this.#comeBack();
    };
    const online = () => {
      this.#way = this.#failures = this.#attempts = 0;
      this.#comeBack();
    };
    const pageHide = () => (this.#leave(), this.#rest());
    /** @type {[Pick<EventTarget, "addEventListener" | "removeEventListener"> | undefined, string, () => void][]} */
    const heard = [
      [document, "visibilitychange", visibility],
      [page ?? undefined, "online", online],
      [page ?? undefined, "pagehide", pageHide],
      [page ?? undefined, "pageshow", visibility],
    ];
    for (const [target, name, then] of heard) target?.addEventListener?.(name, then);
    visibility();
    return () => heard.forEach(([target, name, then]) => target?.removeEventListener?.(name, then));
  }

  #leave() {
    this.#away = true;
    this.#wake();
  }

  #comeBack() {
    this.#away = false;
    if (this.#state.status === "waiting") this.#again();
    else this.#wake();
  }

  // Small things

  /** @param {api.Connection["status"]} status @param {api.Problem | null} [error] @param {Date} [retryAt] */
  #say(status, error = null, retryAt) {
    const transport = status === "connecting" || status === "open" ? this.#ways[this.#way][0] : null;
    this.#state = Object.freeze({ status, transport, error, retryAt: retryAt ?? null });
    for (const listener of [...this.#connectionListeners]) this.#call(listener);
    this.#wake();
  }

  /** @param {string} name @param {number} delay @param {() => void} then */
  #after(name, delay, then) {
    this.#stop(name);
    const done = () => (this.#timers.delete(name), then());
    this.#timers.set(name, this.#options.setTimeout(done, Math.min(delay, LONGEST_TIMER)));
  }

  /** @param {string} name */
  #stop(name) {
    if (this.#timers.has(name)) this.#options.clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }

  /** @param {() => void} listener */
  #call(listener) {
    try {
      listener();
    } catch (error) {
      this.#options.onError(error);
    }
  }
}

const http = () => import("./http.js");

/** @param {api.SocketClass} WebSocket @returns {Way} */
const socketWay = (WebSocket) => (line, ears) => {
  const url = line.at("v1/live");
  url.protocol = url.protocol.replace("http", "ws");
  const socket = new WebSocket(url.href, ["livewell.1"]);
  const send = (/** @type {api.ClientFrame[]} */ frames) => socket.send(JSON.stringify(frames));
  socket.onopen = () => send([{ frame: "hello", ...line.hello() }]);
  socket.onmessage = ({ data }) => ears.message(data);
  socket.onerror = () => ears.closed(1006, ""); // some platforms do not say `close` then
  socket.onclose = ({ code, reason }) => ears.closed(code, reason);
  return {
    tell: (frames) => (send(frames), true),
    close(code) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close(code);
    },
  };
};

const OF_ITEMS = new Set(["row", "age", "state", "no"]);

/** The frames of a message; null if it is none. @param {unknown} text @returns {api.ServerFrame[] | null} */
function framesOf(text) {
  try {
    const frames = JSON.parse(/** @type {string} */ (text));
    const good = frames.every(
      (/** @type {any} */ frame) =>
        typeof frame.frame === "string" &&
        (!OF_ITEMS.has(frame.frame) || (typeof frame.type === "string" && typeof frame.key === "string")),
    );
    return typeof text === "string" && good ? frames : null;
  } catch {
    return null;
  }
}
