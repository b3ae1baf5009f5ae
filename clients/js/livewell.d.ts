/**
 * The types of your data, by name. `livewell types export --ts` writes them:
 *
 *     declare module "@livewell/client" { interface Types { quote: { symbol: string; price: number } } }
 */
export interface Types {}

/** The names of `Types`; any name where none are declared. */
export type TypeName = keyof Types extends never ? string : keyof Types & string;

/** The value of a type; unknown where it is not declared. */
export type Value<T extends string> = T extends keyof Types ? Types[T] : unknown;

/** What went wrong, in the words of the server, and what mends it. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly fix?: string;
}

export type Status = "loading" | "ready" | "refused" | "gone";
export type WaitingFor = "budget" | "gate" | "provider" | "others";

/** An item as it is known now. It is never changed: another one takes its place. */
export interface Snapshot<V = unknown> {
  /** The value; undefined while there is none. */
  readonly data: V | undefined;
  readonly error: Problem | null;
  /** `gone`: the provider does not have it (any more); `refused`: see `error`. */
  readonly status: Status;
  /** Opaque: equal or not, nothing else. */
  readonly version: string | undefined;
  /** When it was last looked at at its source, by this machine's clock. */
  readonly fetchedAt: Date | null;
  /** How many milliseconds ago that was, at the time of asking. */
  age(): number | null;
  readonly isStale: boolean;
  readonly isRefreshing: boolean;
  /** What keeps a refresh from being made. */
  readonly waitingFor: WaitingFor | null;
  readonly waitingUntil: Date | null;
}

/** Something to look at, in the form of a store. */
export interface Store<S> {
  /** Call `listener` at every change until the returned function is called. */
  subscribe(listener: () => void): () => void;
  /** What is so now: the same object until something changes. */
  getSnapshot(): S;
}

/** One item. Who subscribes to it looks at it, and it is kept fresh. */
export interface Item<T extends string = string> extends Store<Snapshot<Value<T>>> {
  readonly type: T;
  readonly key: string;
}

export interface Watch<T extends string = string> {
  readonly item: Item<T>;
  /** Look no more. Calling it twice is calling it once. */
  stop(): void;
}

export type Transport = "websocket" | "stream" | "poll";

export interface Connection {
  /**
   * `idle`: nothing is watched; `waiting`: it broke and is opened again at `retryAt`; `refused`: the server will not have us, see `error`,
   * and `renew()` tries again; `closed`: by `close()`.
   */
  readonly status: "idle" | "connecting" | "open" | "waiting" | "refused" | "closed";
  readonly transport: Transport | null;
  readonly error: Problem | null;
  readonly retryAt: Date | null;
}

export interface Live {
  /** Look at an item, and be called with what is known of it whenever that changes. */
  watch<T extends TypeName>(type: T, key: string, callback?: (snapshot: Snapshot<Value<T>>) => void): Watch<T>;
  /** The item as a store. Asking for it does not look at it; subscribing does. */
  item<T extends TypeName>(type: T, key: string): Item<T>;
  readonly connection: Store<Connection>;
  /** Ask `token` again and tell the server: before a token expires, or after somebody signed in. */
  renew(): Promise<void>;
  /** End it for good. */
  close(): void;
}

export interface Options {
  /** Where Livewell is: `https://data.example.org`, or a path of this page's own server. */
  url: string | URL;
  /** The token to show, asked for at each connection; undefined: none. */
  token?: () => string | undefined | Promise<string | undefined>;
  /** Of the platform, if left out; null: none. */
  WebSocket?: SocketClass | null;
  fetch?: typeof fetch | null;
  /** How long an item is kept watched after the last one stopped (1 s), so that a remount costs nothing. */
  linger?: number;
  /** How long a page may be hidden before it looks no more (30 s). */
  hiddenAfter?: number;
  /** How long a connection is kept that nobody needs (30 s). */
  idleAfter?: number;
  /** What a listener throws; `reportError` of the platform, or the console. */
  onError?: (error: unknown) => void;
  /** The window whose events are heard. */
  page?: Page | null;
  /** A clock that never goes back, in milliseconds. */
  now?: () => number;
  setTimeout?: (callback: () => void, delay: number) => unknown;
  clearTimeout?: (timer: any) => void;
  random?: () => number;
}

export interface Page extends Pick<EventTarget, "addEventListener" | "removeEventListener"> {
  readonly document?: Pick<EventTarget, "addEventListener" | "removeEventListener"> & { readonly visibilityState: string };
  readonly location?: { readonly href: string };
}

/** What is needed of a WebSocket: the platform's is one, and so is that of the package `ws`. */
export type SocketClass = new (url: string, protocols: string[]) => Socket;
export interface Socket {
  onopen: ((event: any) => void) | null;
  onmessage: ((event: any) => void) | null;
  onerror: ((event: any) => void) | null;
  onclose: ((event: any) => void) | null;
  send(data: string): void;
  close(code?: number): void;
}

/** Make a client. Nothing is connected before something is watched. */
export function connect(options: Options): Live;

/** An item as a client names it: with the version it holds, if any. */
export interface Asked {
  type: string;
  key: string;
  version?: string;
}

export type ClientFrame =
  | { frame: "hello"; token?: string; session?: string; items?: Asked[] }
  | { frame: "watch" | "drop"; items: Asked[] }
  | { frame: "token"; token: string };

export type RowFrame = { frame: "row"; type: string; key: string; value?: unknown; large?: boolean; version: string } & Ages;
export type AgeFrame = { frame: "age"; type: string; key: string } & Ages;
export type StateFrame = {
  frame: "state";
  type: string;
  key: string;
  is: "idle" | "refreshing" | "waiting" | "gone";
  for: WaitingFor | null;
  until: number | null;
};
export type NoFrame = { frame: "no"; type: string; key: string } & Problem;
export type ItemFrame = RowFrame | AgeFrame | StateFrame | NoFrame;
export type ServerFrame =
  | { frame: "hello"; session?: string; ping?: number; items?: number }
  | ItemFrame
  | { frame: "ping" }
  | { frame: "bye"; code: number; reason: string; come_back: number | null };

export interface Ages {
  age: number | null;
  fresh: number | null;
}
