/** A thread of the tests that runs writers of SQLite stores, one after the other: see `writer-threads.ts`. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { compileFunction } from "node:vm";
import threads, { type MessagePort } from "node:worker_threads";

const bundle = threads.workerData as string;
const require = createRequire(bundle);
const writer = compileFunction(readFileSync(bundle, "utf8"), ["require", "exports", "module"], { filename: bundle });

threads.parentPort!.on("message", (port: MessagePort) => {
  const ofWriter = { ...threads, parentPort: port };
  port.once("close", () => threads.parentPort!.postMessage("closed", []));
  writer((name: string) => (name === "node:worker_threads" ? ofWriter : require(name)), {}, { exports: {} });
});
