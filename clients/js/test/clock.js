/** Time that passes when it is told to. */
export class Clock {
  #time = 1_000_000;
  #timers = new Map();
  #last = 0;

  now = () => this.#time;

  setTimeout = (then, delay) => {
    this.#timers.set(++this.#last, { at: this.#time + delay, then });
    return this.#last;
  };

  clearTimeout = (timer) => void this.#timers.delete(timer);

  /** Let milliseconds pass, and whatever is due in them happen in its order. */
  async pass(milliseconds) {
    const end = this.#time + milliseconds;
    for (;;) {
      await settled();
      const [next] = [...this.#timers].filter(([, { at }]) => at <= end).sort(([a, x], [b, y]) => x.at - y.at || a - b);
      if (!next) break;
      this.#timers.delete(next[0]);
      this.#time = Math.max(this.#time, next[1].at);
      next[1].then();
    }
    this.#time = end;
    await settled();
  }

  /** Sleep, as a machine does: time goes by and no timer fires on time. */
  sleep(milliseconds) {
    this.#time += milliseconds;
  }

  /** How long until the next timer, or null. */
  get next() {
    const times = [...this.#timers.values()].map(({ at }) => at - this.#time);
    return times.length ? Math.min(...times) : null;
  }

  /** The delays that are waited for, the shortest first. */
  get delays() {
    return [...this.#timers.values()].map(({ at }) => at - this.#time).sort((a, b) => a - b);
  }
}

/** When all that was promised at once is done. */
export const settled = () => new Promise((done) => setImmediate(done));
