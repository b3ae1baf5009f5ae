// The steps of benchmarks/protocol.py for contenders on Node.js: same order, same figures, same lines.
"use strict";

const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const FINISH_POLL = 5;
const SETTLE = 1000;
const FIRST_SAMPLE = 1_000_000;

const plan = { dsn: process.env.BENCH_DSN, ...JSON.parse(process.env.BENCH_PLAN) };
const now = () => Number(process.hrtime.bigint()) / 1e9;
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const say = (line) => console.log(JSON.stringify(line));
const report = (measure, value, unit) => say({ measure, value, unit });

// Read as a file, because some packages do not export their manifest.
function sayVersion(name) {
  const manifest = JSON.parse(readFileSync(join(process.env.NODE_PATH, name, "package.json"), "utf8"));
  say({ version: `${name} ${manifest.version}, node ${process.versions.node}` });
}

class Tally {
  seen = 0;
  #goal = 0;
  #reached = () => {};
  #awaited = new Map();

  hit(number) {
    this.seen += 1;
    const started = this.#awaited.get(number);
    if (started !== undefined) {
      this.#awaited.delete(number);
      started(now());
    }
    if (this.seen === this.#goal) this.#reached();
  }

  reach(goal) {
    this.#goal = goal;
    return this.seen >= goal ? Promise.resolve() : new Promise((resolve) => (this.#reached = resolve));
  }

  startOf(number) {
    return new Promise((resolve) => this.#awaited.set(number, resolve));
  }
}

async function fill(subject, jobs, unique) {
  for (let first = 0; first < jobs; first += plan.batch) {
    const length = Math.min(plan.batch, jobs - first);
    await subject.enqueueMany(Array.from({ length }, (_, offset) => first + offset), unique);
  }
}

async function singles(subject) {
  if (!plan.single) return;
  await subject.enqueue(0);
  const started = now();
  for (let number = 1; number <= plan.single; number++) await subject.enqueue(number);
  report("enqueue_single", plan.single / (now() - started), "jobs/s");
  await subject.clear();
}

async function bulk(subject) {
  if (!plan.bulk) return;
  const started = now();
  await fill(subject, plan.bulk, true);
  report("enqueue_bulk", plan.bulk / (now() - started), "jobs/s");
  await subject.clear();
}

async function drain(subject, tally) {
  await fill(subject, plan.drain, false);
  await subject.tidy();
  const goal = tally.seen + plan.drain;
  const started = now();
  await subject.startWorker();
  await tally.reach(goal);
  while (await subject.unfinished()) await sleep(FINISH_POLL);
  report("drain", plan.drain / (now() - started), "jobs/s");
}

async function latency(subject, tally, first, name) {
  const waits = [];
  for (let number = first; number < first + plan.samples; number++) {
    const start = tally.startOf(number);
    const asked = now();
    await subject.enqueue(number);
    waits.push((await start) - asked);
    await sleep(plan.gap * 1000);
  }
  waits.sort((a, b) => a - b);
  const at = (percent) => waits[Math.round((percent / 100) * (waits.length - 1))] * 1000;
  report(`${name}_p50`, at(50), "ms");
  report(`${name}_p99`, at(99), "ms");
}

async function measure(subject, tally) {
  await singles(subject);
  await bulk(subject);
  await drain(subject, tally);
  if (!plan.samples) return;
  await latency(subject, tally, FIRST_SAMPLE, "latency_after_burst");
  await subject.tidy();
  await sleep(SETTLE);
  await latency(subject, tally, FIRST_SAMPLE + plan.samples, "latency_idle");
}

function run(main) {
  main().then(
    () => process.exit(0),
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );
}

module.exports = { plan, sayVersion, Tally, measure, run };
