import { test as unbounded } from "node:test";

/** A test that waits for nothing longer than this. */
export const test = (name, body) => unbounded(name, { timeout: 20_000 }, body);
