/** @import { Asked, ItemFrame, Problem, Snapshot, StateFrame } from "./livewell.d.ts" */
/** @typedef {Pick<StateFrame, "is" | "for" | "until">} State */

/** @type {State} */
const IDLE = { is: "idle", for: null, until: null };

/** What there is to see of an item that nobody has looked at yet. @type {Snapshot<any>} */
export const NOTHING = Object.freeze({
  data: undefined,
  error: null,
  status: "loading",
  version: undefined,
  fetchedAt: null,
  age: () => null,
  isStale: false,
  isRefreshing: false,
  waitingFor: null,
  waitingUntil: null,
});

/** One item that somebody looks at, or looked at a moment ago: what is known of it, and who listens. */
export class Known {
  watchers = 0;
  /** @type {Set<() => void>} */
  listeners = new Set();
  /** Its snapshot, made anew by `show` and never changed. */
  snapshot = NOTHING;
  /** @type {string | undefined} */
  version;
  /** The server said no: it is not asked again while the same ones look. */
  refused = false;
  /** By the client's clock, when it is judged stale. */
  staleAt = Infinity;
  /** The GET of a large value that is under way. @type {object | null} */
  loading = null;

  /** @type {unknown} */
  #value;
  /** @type {Problem | null} */
  #error = null;
  /** @type {number | null} */
  #age = null;
  #heardAt = 0;
  /** @type {Date | null} */
  #fetchedAt = null;
  /** @type {State} */
  #state = IDLE;
  /** @type {Date | null} */
  #until = null;
  #stateIsOld = false;

  /** @param {string} type @param {string} key @param {() => number} now */
  constructor(type, key, now) {
    this.type = type;
    this.key = key;
    this.now = now;
  }

  /** As the server is asked for it; what it then says of its state counts alone. @returns {Asked} */
  asked() {
    this.#stateIsOld = true;
    return { type: this.type, key: this.key, version: this.version };
  }

  /** @param {ItemFrame} frame */
  hear(frame) {
    if (frame.frame === "no") return this.refuse(frame);
    if (frame.frame === "state") return this.#hearState(frame);
    if (this.#stateIsOld || this.#state.is === "gone") this.#hearState(IDLE);
    this.refused = false;
    this.#error = null;
    if (frame.frame === "row") {
      this.loading = null;
      this.version = frame.version;
      this.#value = frame.age === null ? undefined : frame.value;
    }
    this.#age = frame.age;
    this.#heardAt = this.now();
    this.#fetchedAt = frame.age === null ? null : new Date(Date.now() - frame.age);
    this.staleAt = frame.fresh === null ? Infinity : this.#heardAt + frame.fresh;
  }

  /** Drop the value, and say why. @param {Problem} problem */
  refuse({ code, message, fix }) {
    this.forget();
    this.refused = true;
    this.#error = { code, message, fix };
  }

  /** Say what is wrong; what is known stays. @param {Problem} problem */
  fail(problem) {
    this.#error = problem;
  }

  forget() {
    this.version = this.#value = undefined;
    this.#error = this.#age = this.#fetchedAt = this.loading = null;
    this.staleAt = Infinity;
    this.refused = false;
    this.#hearState(IDLE);
  }

  /** Make the snapshot of what is known now. */
  show() {
    const [age, heardAt, now] = [this.#age, this.#heardAt, this.now];
    const { is, for: waitingFor } = this.#state;
    this.snapshot = Object.freeze({
      data: this.#value,
      error: this.#error,
      status: this.#status(),
      version: this.version,
      fetchedAt: this.#fetchedAt,
      age: () => (age === null ? null : age + now() - heardAt),
      isStale: this.staleAt <= now(),
      isRefreshing: is === "refreshing",
      waitingFor,
      waitingUntil: this.#until,
    });
  }

  #status() {
    if (this.refused || (this.#error && this.#value === undefined)) return "refused";
    if (this.#state.is === "gone") return "gone";
    return this.#value === undefined ? "loading" : "ready";
  }

  /** @param {State} state */
  #hearState(state) {
    this.#stateIsOld = false;
    this.#state = state;
    this.#until = state.until === null ? null : new Date(Date.now() + state.until);
  }
}

/** An object that reads the parts of another, and notes which. @param {() => any} source */
export function noting(source) {
  /** @type {Set<string>} */
  const read = new Set();
  const view = {};
  for (const name in NOTHING) {
    Object.defineProperty(view, name, { enumerable: true, get: () => (read.add(name), source()[name]) });
  }
  return { view, read };
}

/** Whether two values are the same, or have the same parts. @param {any} a @param {any} b */
export const alike = (a, b) =>
  a === b ||
  (a?.constructor === b?.constructor &&
    (a?.constructor === Object || Array.isArray(a)) &&
    Object.keys({ ...a, ...b }).every((name) => name in a && name in b && a[name] === b[name]));
