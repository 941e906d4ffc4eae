import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { Store } from "@cinch/core";
import { FUNCTIONS, migrations } from "../../src/schema.ts";
import { rowsOf } from "../dump.ts";
import { created, event, input, says } from "../events.ts";
import { Place } from "../place.ts";
import { StoreProcess } from "../store-process.ts";

/**
 * Writes a database of the current format, for `fixtures.test.ts`: `node -C @cinch/source packages/postgres/test/programs/write-dump.ts`.
 * Run it once before a format is released. It overwrites no file without `--again`, which is for formats that are not released.
 */
const path = join(import.meta.dirname, "..", "fixtures", `format-${migrations.length}.sql`);
if (existsSync(path) && !process.argv.includes("--again"))
  throw new Error(`${path} exists. A release may have written it.`);

const picture = { type: "file", mediaType: "image/png", blob: "hash" };

async function fill(store: Store): Promise<void> {
  const blobs = [{ hash: "hash", bytes: new TextEncoder().encode("a picture") }];
  const shown = event("input_accepted", { inputId: "i", named: true, delivery: "send", content: "", files: [picture] });
  await store.append("talk", [created({ title: "Żółw \u0000 'quoted'" }), shown], { afterSeq: 0, blobs });
  await store.append("talk", [event("agent_start"), says("a zebra said")], { afterSeq: 2, take: 0, awake: true });
  await store.append("talk", [event("agent_end", { reason: "complete" })], {
    afterSeq: 4,
    epoch: 1,
    release: true,
    awake: false,
  });
  const cloned = event("thread_cloned", { title: "clone", parent: { threadId: "talk", seq: 3 }, rules: [], state: {} });
  await store.append("clone", [cloned, input("another way")], { afterSeq: 3, awake: true, active: true });
  const rewound = event("thread_rewound", { toSeq: 2, files: false, rules: [], grants: [] });
  await store.append("talk", [rewound], { afterSeq: 5, take: 1, release: true });
  await store.append("later", [created()], { afterSeq: 0, dueAt: 1_000 });
  await store.append("gone", [created()], { afterSeq: 0 });
  await store.deleteThread("gone");
  await store.saveFold?.("talk", { seq: 6, fingerprint: "f", body: "{}" });
  await store.findEvents({ resourceId: "me", query: "zebra" });
}

const place = await Place.make();
const store = await place.store();
await fill(store);
const child = new StoreProcess();
const driver = await child.store(place.options);
await driver.append("driven", [created(), event("agent_start")], { afterSeq: 0, take: 0, awake: true, active: true });
await driver.saveDraft("driven", 1, [{ messageId: "m", index: 0, part: "text", text: "half a sen" }]);
await child.kill();
await store.close();
writeFileSync(path, `${migrations.join("\n")}${FUNCTIONS}\n${await rowsOf(place)}`);
await place[Symbol.asyncDispose]();
