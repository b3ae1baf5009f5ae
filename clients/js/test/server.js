/**
 * A server that speaks the protocol on 127.0.0.1, by real sockets. A test says what it sends; what it is sent is waited
 * for, one after the other.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

export const golden = JSON.parse(readFileSync(new URL("../../../docs/reference/live-frames.json", import.meta.url), "utf8"));

/** Things that come, to be waited for in their order. */
export class Queue {
  #came = [];
  #waiting = [];

  push(thing) {
    const waiting = this.#waiting.shift();
    if (waiting) waiting(thing);
    else this.#came.push(thing);
  }

  next() {
    if (this.#came.length) return Promise.resolve(this.#came.shift());
    return new Promise((done) => this.#waiting.push(done));
  }

  /** What came and was not asked for. */
  get rest() {
    return this.#came.splice(0);
  }
}

/** One WebSocket at the server. */
class Peer {
  messages = new Queue();
  closed;

  constructor(socket, request) {
    this.socket = socket;
    this.request = request;
    socket.on("message", (data) => this.messages.push(JSON.parse(data.toString())));
    socket.on("error", () => {});
    this.closed = new Promise((done) => socket.on("close", (code) => done(code)));
  }

  say(...frames) {
    this.socket.send(JSON.stringify(frames));
  }

  next() {
    return this.messages.next();
  }
}

export class Server {
  peers = new Queue();
  /** Requests by HTTP that are not answered yet: `{ request, body, answer(status, headers, body), response }`. */
  requests = new Queue();
  /** Whether WebSockets are let through. */
  upgrades = true;
  connections = 0;

  static async start(test) {
    const server = new Server();
    server.http = createServer((request, response) => server.#asked(request, response));
    const sockets = new WebSocketServer({ noServer: true, handleProtocols: (offered) => (offered.has("livewell.1") ? "livewell.1" : false) });
    server.http.on("upgrade", (request, socket, head) => {
      server.connections++;
      if (!server.upgrades) return void socket.destroy();
      sockets.handleUpgrade(request, socket, head, (opened) => server.peers.push(new Peer(opened, request)));
    });
    await new Promise((done) => server.http.listen(0, "127.0.0.1", done));
    server.url = `http://127.0.0.1:${server.http.address().port}`;
    test.after(() => {
      for (const socket of sockets.clients) socket.terminate();
      server.http.closeAllConnections();
      return new Promise((done) => server.http.close(done));
    });
    return server;
  }

  async #asked(request, response) {
    let body = "";
    for await (const chunk of request) body += chunk;
    this.requests.push({
      request,
      response,
      body: body ? JSON.parse(body) : null,
      answer(status, content, headers = {}) {
        response.writeHead(status, { "content-type": "application/json", ...headers });
        response.end(content === undefined ? undefined : JSON.stringify(content));
      },
      stream(...frames) {
        if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(frames.length ? `data: ${JSON.stringify(frames)}\n\n` : golden.stream.comment);
      },
      gone: new Promise((done) => response.on("close", done)),
    });
  }
}

/** When a store is as it should be. */
export function until(store, isSo) {
  return new Promise((done) => {
    const look = () => {
      if (!isSo(store.getSnapshot())) return;
      leave();
      done(store.getSnapshot());
    };
    const leave = store.subscribe(look);
    look();
  });
}
