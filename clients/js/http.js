/**
 * The ways to a server where WebSockets do not get through, and the GET of one item. Loaded when they are needed.
 *
 * @import { Asked, ClientFrame, Problem, ServerFrame } from "./livewell.d.ts"
 *
 * Each way is opened with what it needs and whom it tells, and gives back `tell`, which returns false where saying it takes
 * another connection, and `close`.
 * @typedef {{ at: (path: string) => URL, token: string | undefined, fetch: typeof fetch }} Http
 * @typedef {Http & {
 *   wait: (then: () => void, delay: number) => unknown,
 *   now: () => number,
 *   hello: () => { token?: string, session?: string, items: Asked[] },
 *   wanted: () => Asked[],
 * }} Line
 * @typedef {{
 *   message: (text: unknown) => void,
 *   frames: (frames: ServerFrame[]) => void,
 *   alive: () => void,
 *   closed: (code: number, reason: string, comeBack?: number | null) => void,
 * }} Ears
 * @typedef {{ tell: (frames: ClientFrame[]) => boolean, close: (code: number) => void }} Opened
 * @typedef {(line: Line, ears: Ears) => Opened} Way
 */

/** Close codes that say the same as a status. 401 and 4299 (there is no such way) are known to the client alone. @type {Record<number, number>} */
const CODES = { 400: 4100, 401: 401, 403: 4102, 404: 4299, 405: 4299, 413: 4104, 422: 4100 };
const LANES = 4;
const LONGEST_WAIT = 20;

/** @type {Way} */
export function openStream(line, ears) {
  const abort = new AbortController();
  const { session, items } = line.hello();
  read().catch((error) => abort.signal.aborted || ears.closed(1006, String(error)));
  return { tell: () => false, close: () => abort.abort() };

  async function read() {
    const answer = await line.fetch(line.at("v1/live/stream"), {
      method: "POST",
      headers: { ...bearer(line), "Content-Type": "application/json", Accept: "text/event-stream" },
      body: JSON.stringify({ session, items }),
      signal: abort.signal,
    });
    if (!answer.ok || !answer.body) return ears.closed(...(await refusal(answer)));
    const reader = answer.body.getReader();
    const decoder = new TextDecoder();
    for (let rest = ""; ; ) {
      const { done, value } = await reader.read();
      if (abort.signal.aborted) return;
      if (done) return ears.closed(1006, "the stream ended");
      ears.alive();
      const events = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      rest = /** @type {string} */ (events.pop());
      for (const event of events) {
        const data = event.split(/\r?\n/).filter((text) => text.startsWith("data:"));
        if (data.length && !abort.signal.aborted) ears.message(data.map((text) => text.slice(5)).join("\n"));
      }
    }
  }
}

/** @type {Way} */
export function openPolling(line, ears) {
  /** @type {Map<string, number>} By item, when it was last asked for. */
  const asked = new Map();
  /** @type {Map<string, AbortController>} */
  const busy = new Map();
  let opened = false;
  let over = false;
  line.hello();
  more();
  return { tell: () => (more(), true), close };

  function close() {
    over = true;
    for (const abort of busy.values()) abort.abort();
  }

  /** Ask for what was asked for longest ago, in as many requests at a time as there are lanes. */
  function more() {
    if (over) return;
    const wanted = new Map(line.wanted().map((item) => [id(item), item]));
    for (const [name, abort] of busy) if (!wanted.has(name)) busy.delete(name), abort.abort();
    const free = [...wanted].filter(([name]) => !busy.has(name));
    free.sort(([one], [other]) => (asked.get(one) ?? -1) - (asked.get(other) ?? -1));
    for (const [name, item] of free.slice(0, LANES - busy.size)) ask(name, item, wanted.size);
  }

  /** @param {string} name @param {Asked} item @param {number} many */
  async function ask(name, item, many) {
    const began = line.now();
    const abort = new AbortController();
    const wait = opened && item.version ? Math.max(1, Math.floor(Math.min(1, LANES / many) * LONGEST_WAIT)) : 0;
    asked.set(name, began), busy.set(name, abort);
    try {
      const frames = await getItem(line, item, abort.signal, wait);
      if (abort.signal.aborted) return;
      ears.frames(opened ? frames : [{ frame: "hello" }, ...frames]);
      opened = true;
      const took = line.now() - began;
      // A server that does not wait is not asked without a pause.
      const pause = wait && took < 1000 && frames[0]?.frame !== "row" ? 5000 : Math.max(0, 1000 - took);
      line.wait(() => (busy.get(name) === abort && busy.delete(name), more()), pause);
    } catch (error) {
      if (abort.signal.aborted || over) return;
      close();
      if (error instanceof Refused) ears.closed(...error.close);
      else ears.closed(1006, String(error));
    }
  }
}

/** An answer that is not about the item, as the close code that says the same. */
class Refused extends Error {
  /** @param {[number, string, number?]} close */
  constructor(close) {
    super(close[1]);
    this.close = close;
  }
}

const id = (/** @type {Asked} */ { type, key }) => JSON.stringify([type, key]);

/**
 * What the server says of one item, as the frames that would have said it.
 * @param {Http} line @param {Asked} item @param {AbortSignal} [signal]
 * @returns {Promise<ServerFrame[]>}
 */
export async function getItem(line, { type, key, version }, signal, wait = 0) {
  const answer = await line.fetch(line.at(`v1/items/${encodeURIComponent(type)}/${encodeURIComponent(key)}`), {
    headers: {
      ...bearer(line),
      ...(version && { "If-None-Match": `"${version}"` }),
      ...(wait && { Prefer: `wait=${wait}` }),
    },
    signal,
    cache: "no-store",
  });
  if (answer.status === 304) {
    const [age, fresh] = ["Livewell-Age", "Livewell-Fresh"].map((name) => answer.headers.get(name));
    return age ? [{ frame: "age", type, key, age: +age, fresh: fresh ? +fresh : null }] : [];
  }
  if (answer.status === 403 || answer.status === 404) return [{ frame: "no", type, key, ...(await problemOf(answer)) }];
  if (!answer.ok) throw new Refused(await refusal(answer));
  const { state, ...row } = await answer.json();
  return [
    { ...row, frame: "row", type, key },
    { for: null, until: null, ...(state ?? { is: "idle" }), frame: "state", type, key },
  ];
}

/** @param {Http} line @returns {Record<string, string>} */
const bearer = ({ token }) => (token ? { Authorization: `Bearer ${token}` } : {});

/** The close code that says the same as an answer. @param {Response} answer @returns {Promise<[number, string, number?]>} */
async function refusal(answer) {
  const { status } = answer;
  const { message } = await problemOf(answer);
  if (status === 429 || status === 503) return [4000, message, (Number(answer.headers.get("Retry-After")) || 1) * 1000];
  return [CODES[status] ?? 1006, message];
}

/** @param {Response} answer @returns {Promise<Problem>} */
async function problemOf(answer) {
  const { code, message, fix } = await answer.json().catch(() => ({}));
  return { code: code ?? `http.${answer.status}`, message: message ?? `the server answered ${answer.status}`, fix };
}
