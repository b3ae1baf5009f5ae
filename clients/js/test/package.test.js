import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { test } from "./bounded.js";
import { golden } from "./server.js";

const file = (name) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
const packed = (...names) => names.reduce((sum, name) => sum + gzipSync(file(name), { level: 9 }).length, 0);

test("the core is at most 8 kB, the React part at most 1 kB, as they are served", () => {
  assert.ok(packed("livewell.js", "items.js") <= 8_000, `${packed("livewell.js", "items.js")} bytes`);
  assert.ok(packed("react.js") <= 1_000, `${packed("react.js")} bytes`);
  assert.ok(packed("http.js") <= 3_000, `${packed("http.js")} bytes`);
});

test("a page loads the core alone: what it does not need at once is imported when it is needed", () => {
  const imports = (name) => [...file(name).matchAll(/^import .*from "(.*)";$/gm)].map(([, from]) => from);
  assert.deepEqual(imports("livewell.js"), ["./items.js"]);
  assert.deepEqual(imports("items.js"), []);
  assert.deepEqual(imports("http.js"), []);
  assert.deepEqual(imports("react.js"), ["react", "./items.js"]);
});

test("it depends on nothing, and ships every module", () => {
  const { dependencies, files, exports } = JSON.parse(file("package.json"));
  assert.equal(dependencies, undefined);
  assert.deepEqual(files, ["*.js", "*.d.ts"]);
  for (const { types, default: module } of Object.values(exports)) file(types), file(module);
});

test("what tests need is pinned by version and hash, and says no address", () => {
  const { packages } = JSON.parse(file("package-lock.json"));
  const { "": own, ...others } = packages;
  assert.ok(Object.values(own.devDependencies).every((version) => /^\d+\.\d+\.\d+$/.test(version)));
  for (const [name, { integrity, resolved }] of Object.entries(others)) {
    assert.match(integrity, /^sha512-/, name);
    assert.equal(resolved, undefined, name);
  }
});

test("importing it does nothing, also where there is no page", async () => {
  const before = Object.getOwnPropertyNames(globalThis);
  const { connect } = await import("../livewell.js");
  connect({ url: "http://127.0.0.1:1" }).close();
  assert.deepEqual(Object.getOwnPropertyNames(globalThis), before);
});

test("every golden frame is in a test", () => {
  const tests = readdirSync(new URL(".", import.meta.url)).filter((name) => /^(?!package).*\.js$/.test(name));
  const text = tests.map((name) => file(`test/${name}`)).join("\n");
  const unused = ["server", "server_messages", "client_messages", "stream", "item"].flatMap((part) =>
    Object.keys(golden[part]).filter((name) => !new RegExp(`\\.${name}\\b`).test(text)).map((name) => `${part}.${name}`),
  );
  assert.deepEqual(unused, []);
});
