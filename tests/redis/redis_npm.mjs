// Makes every call that the `redis` client of npm has for these commands:
// node redis_npm.mjs PORT RESP MODULES
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const [port, resp, modules] = process.argv.slice(2);
const { createClient, RESP_TYPES } = createRequire(modules + "/")("redis");
const client = createClient({
  socket: { host: "127.0.0.1", port: Number(port) },
  RESP: Number(resp),
});
client.on("error", (error) => { throw error; });
await client.connect();
await client.flushAll();
const { bf, cf, cms, topK } = client;
const binary = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
const value = (object) => JSON.parse(JSON.stringify(object)); // some replies have no prototype

// bf: add card exists info insert loadChunk mAdd mExists reserve scanDump
assert.equal(await bf.reserve("b", 0.01, 1000), "OK");
assert.equal(await bf.reserve("b2", 0.01, 2, { NONSCALING: true }), "OK");
assert.equal(await bf.reserve("b3", 0.01, 100, { EXPANSION: 4 }), "OK");
assert.equal(await bf.add("b", "x"), true);
assert.equal(await bf.add("b", "x"), false);
assert.deepEqual(await bf.mAdd("b", ["x", "y"]), [false, true]);
assert.equal(await bf.exists("b", "x"), true);
assert.equal(await bf.exists("none", "x"), false);
assert.deepEqual(await bf.mExists("b", ["x", "y", "z"]), [true, true, false]);
assert.equal(await bf.card("b"), 2);
assert.deepEqual(
  await bf.insert("b4", ["p", "q"], { CAPACITY: 50, ERROR: 0.1, EXPANSION: 3 }), [true, true]);
await assert.rejects(bf.insert("none", "p", { NOCREATE: true }), /not found/);
assert.deepEqual(value(await bf.info("b4")), {
  Capacity: 50, Size: 136, "Number of filters": 1, "Number of items inserted": 2,
  "Expansion rate": 3,
});
assert.equal((await bf.info("b2"))["Expansion rate"], null);
const full = await bf.mAdd("b2", ["1", "2", "3"]);
assert.deepEqual(full.slice(0, 2), [true, true]);
assert.ok(full.length === 3 && full[2] !== true);
for (let iterator = 0; ;) {
    const piece = await binary.bf.scanDump("b", iterator);
    if (piece.iterator === 0) break;
    assert.equal(await bf.loadChunk("loaded", piece.iterator, piece.chunk), "OK");
    iterator = piece.iterator;
}
assert.deepEqual(await bf.mExists("loaded", ["x", "y", "z"]), [true, true, false]);

// cf: add addNX count del exists info insert insertNX loadChunk reserve scanDump
assert.equal(await cf.reserve("c", 1000, { BUCKETSIZE: 4, MAXITERATIONS: 30, EXPANSION: 2 }), "OK");
assert.equal(await cf.add("c", "x"), true);
assert.equal(await cf.addNX("c", "x"), false);
assert.deepEqual(await cf.insert("c", ["x", "y"]), [true, true]);
// The client makes booleans of them in RESP2.
assert.deepEqual((await cf.insertNX("c", ["x", "z"])).map(Number), [0, 1]);
assert.equal(await cf.count("c", "x"), 2);
assert.equal(await cf.exists("c", "x"), true);
assert.equal(await cf.del("c", "x"), true);
assert.equal(await cf.del("c", "never"), false);
assert.deepEqual(value(await cf.info("c")), {
    Size: 1080, "Number of buckets": 256, "Number of filters": 1, "Number of items inserted": 3,
    "Number of items deleted": 1,
    "Bucket size": 4, "Expansion rate": 2, "Max iterations": 30 });
for (let iterator = 0; ;) {
    const piece = await binary.cf.scanDump("c", iterator);
    if (piece.iterator === 0) break;
    assert.equal(await cf.loadChunk("cloaded", piece.iterator, piece.chunk), "OK");
    iterator = piece.iterator;
}
assert.equal(await cf.exists("cloaded", "y"), true);

// cms: incrBy info initByDim initByProb merge query
assert.equal(await cms.initByDim("m", 100, 5), "OK");
assert.equal(await cms.initByDim("m2", 100, 5), "OK");
assert.equal(await cms.initByProb("m3", 0.001, 0.01), "OK");
assert.deepEqual(await cms.incrBy("m", { item: "x", incrementBy: 5 }), [5]);
assert.deepEqual(
  await cms.incrBy("m", [{ item: "x", incrementBy: 1 }, { item: "y", incrementBy: 2 }]), [6, 2]);
assert.deepEqual(await cms.query("m", ["x", "y", "z"]), [6, 2, 0]);
assert.equal(await cms.merge("m2", ["m"]), "OK");
assert.equal(await cms.merge("m2", [{ name: "m", weight: 3 }]), "OK");
assert.deepEqual(await cms.query("m2", ["x"]), [18]);
assert.deepEqual(value(await cms.info("m2")), { width: 100, depth: 5, count: 24 });

// topK: add count incrBy info list listWithCount query reserve
assert.equal(await topK.reserve("t", 2, { width: 50, depth: 5, decay: 0.9 }), "OK");
assert.deepEqual(await topK.add("t", ["x", "y"]), [null, null]);
assert.deepEqual(
  await topK.incrBy("t", [{ item: "x", incrementBy: 10 }, { item: "z", incrementBy: 20 }]),
  [null, "y"]);
assert.deepEqual(await topK.list("t"), ["z", "x"]);
assert.deepEqual(value(await topK.listWithCount("t")),
  [{ item: "z", count: 20 }, { item: "x", count: 11 }]);
assert.deepEqual(await topK.query("t", ["x", "y"]), [true, false]);
assert.deepEqual(await topK.count("t", ["x", "z"]), [11, 20]);
assert.deepEqual(value(await topK.info("t")), { k: 2, width: 50, depth: 5, decay: 0.9 });

// ours, by the plain call
assert.equal(
  await client.sendCommand(["TAMIS.CREATE", "n", "blocked", "ITEMS", "100", "RATE", "0.01"]), "OK");
assert.deepEqual(
  (await client.sendCommand(["TAMIS.MADD", "n", "x", "y"])).map(Boolean), [true, true]);
console.log("all calls");
await client.close();
