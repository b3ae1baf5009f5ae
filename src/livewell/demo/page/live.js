// The page of the demonstration: a card for each symbol, kept fresh because it is looked at.
import { connect } from "/client/livewell.js";

const WORDS = { budget: "waits for budget", gate: "its market is closed", provider: "waits for its provider", others: "others go first" };
const SHOWN = 12;
const KEPT = 60;

const live = connect({ url: location.origin });
const cards = new Map();
const list = document.querySelector("#cards");
const template = document.querySelector("#card");
const said = document.querySelector("#connection");

function tellConnection() {
  const { status, transport, error } = live.connection.getSnapshot();
  said.dataset.status = status;
  said.textContent = error ? `${status}: ${error.message}` : transport && status === "open" ? `open (${transport})` : status;
}

class Card {
  constructor(symbol) {
    this.symbol = symbol;
    this.prices = [];
    this.length = 1;
    this.element = template.content.firstElementChild.cloneNode(true);
    this.element.dataset.symbol = symbol;
    this.part = (name) => this.element.querySelector(name);
    this.part("h2").textContent = symbol;
    this.part(".drop").setAttribute("aria-label", `look away from ${symbol}`);
    this.part(".drop").addEventListener("click", () => drop(symbol));
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Delete" || event.key === "Backspace") drop(symbol);
    });
    list.append(this.element);
    this.watch = live.watch("quote", symbol, (snapshot) => this.show(snapshot));
  }

  show(snapshot) {
    this.snapshot = snapshot;
    const price = snapshot.data?.price;
    const last = this.prices.at(-1);
    if (price !== undefined && snapshot.version !== this.version) {
      this.version = snapshot.version;
      this.prices = [...this.prices, price].slice(-KEPT);
      this.part(".value").textContent = price.toFixed(2);
      const change = snapshot.data.change;
      this.part(".change").textContent = `${change > 0 ? "+" : ""}${change.toFixed(2)}`;
      this.part(".change").dataset.sign = change < 0 ? "down" : "up";
      if (last !== undefined && price !== last) {
        this.element.dataset.moved = price > last ? "up" : "down";
        clearTimeout(this.still);
        this.still = setTimeout(() => delete this.element.dataset.moved, 700);
      }
      this.draw();
    }
    const state = this.part(".state");
    state.dataset.is = snapshot.isRefreshing ? "refreshing" : "";
    state.textContent = snapshot.error ? snapshot.error.message
      : snapshot.status === "gone" ? "its provider does not have it"
      : snapshot.waitingFor ? WORDS[snapshot.waitingFor]
      : snapshot.isRefreshing ? "being refreshed" : "";
    this.tick();
  }

  draw() {
    const low = Math.min(...this.prices);
    const span = Math.max(...this.prices) - low || 1;
    const step = 100 / Math.max(1, this.prices.length - 1);
    const points = this.prices.map((price, at) => `${(at * step).toFixed(1)},${(22 - (20 * (price - low)) / span).toFixed(1)}`);
    this.part("polyline").setAttribute("points", points.join(" "));
  }

  // Ages go on by themselves: nothing is sent for them.
  tick() {
    const age = this.snapshot?.age() ?? null;
    this.element.dataset.stale = String(age !== null && this.snapshot.isStale);
    this.part(".age").textContent = age === null ? "not fetched yet"
      : `${(age / 1000).toFixed(1)} s old${this.snapshot.isStale ? ", stale" : ""}`;
    const left = age === null || this.snapshot.isStale ? 0 : Math.max(0, 1 - age / ttl);
    this.part(".fresh i").style.transform = `scaleX(${left})`;
    this.part(".fresh").setAttribute("aria-valuenow", String(Math.round(100 * left)));
  }

  end() {
    this.watch.stop();
    this.element.remove();
  }
}

let ttl = 5000;

function add(symbol) {
  if (symbol && !cards.has(symbol)) cards.set(symbol, new Card(symbol));
  cards.get(symbol)?.element.focus();
}

function drop(symbol) {
  cards.get(symbol)?.end();
  cards.delete(symbol);
}

async function look() {
  try {
    const answer = await fetch("/live/market.json");
    const market = await answer.json();
    ttl = market.ttl;
    for (const [symbol, card] of cards) {
      const people = market.viewers[symbol] ?? 0;
      card.part(".people").textContent = people === 1 ? "1 looks" : `${people} look`;
    }
    return market.symbols;
  } catch {
    return [];
  }
}

document.querySelector("#add").addEventListener("submit", (event) => {
  event.preventDefault();
  const input = event.target.elements.symbol;
  add(input.value.trim().toUpperCase());
  input.value = "";
});
live.connection.subscribe(tellConnection);
const symbols = await look();
document.querySelector("#symbols").append(...symbols.map((symbol) => new Option(symbol, symbol)));
for (const symbol of symbols.slice(0, SHOWN)) add(symbol);
document.activeElement?.blur();
tellConnection();
setInterval(() => document.visibilityState === "visible" && cards.forEach((card) => card.tick()), 100);
setInterval(() => document.visibilityState === "visible" && look(), 2000);
