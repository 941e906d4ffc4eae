/**
 * node scripts/test-group.ts FILE…
 *
 * Runs the tests of several files in this process, as `node --test --test-isolation=none` does, but in half to two thirds of the CPU time:
 * the hook with which Node's runner finds the test of an uncaught error follows every promise. Here it follows timers, sockets and files,
 * but no promises. An error that no test caught ends the process, with the name of its test if it came from a rejected promise.
 */
import { AsyncLocalStorage, createHook, type AsyncHook } from "node:async_hooks";
import { tracingChannel } from "node:diagnostics_channel";
import { resolve } from "node:path";
import process from "node:process";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { startWritersFrom } from "./writer-threads.ts";

// Before the runner, which begins with the first test or hook, enables its hook.
stopFollowingPromises();
const files = process.argv.slice(2);
/** These tests are about the thread of a writer, or measure it. */
const areThreadsTested = files.some((file) => /^packages\/sqlite\/test\/(lifetime|.*\.alone)\.test\.ts$/.test(file));
// Before a test imports the store.
if (process.env["TEST_WRITER"]) startWritersFrom(process.env["TEST_WRITER"], { reuse: !areThreadsTested });

const current = new AsyncLocalStorage<{ name: string }>();
tracingChannel<{ name: string }>("node.test").start.bindStore(current);
process.on("uncaughtExceptionMonitor", fail);
process.on("unhandledRejection", fail);

// No test starts before all files are loaded: loading would disturb it.
const loaded = Promise.withResolvers<void>();
before(() => loaded.promise);
for (const file of files) await load(file);
loaded.resolve();

async function load(file: string): Promise<void> {
  try {
    await import(pathToFileURL(resolve(file)).href);
  } catch (error) {
    test(file, () => Promise.reject(error));
  }
}

function fail(error: unknown): never {
  console.error(`An error that no test caught, from the test "${current.getStore()?.name ?? "(unknown)"}":`, error);
  process.exit(1);
}

/** An option of `createHook` that the runner does not set. */
function stopFollowingPromises(): void {
  const sample = createHook({ trackPromises: false });
  const option = Object.getOwnPropertySymbols(sample).find((key) => Reflect.get(sample, key) === true);
  if (!option) throw new Error("This version of Node keeps trackPromises elsewhere. Adapt scripts/test-group.ts.");
  const prototype: AsyncHook = Object.getPrototypeOf(sample);
  const { enable } = prototype;
  prototype.enable = function (this: AsyncHook) {
    Reflect.set(this, option, true);
    return enable.call(this);
  };
}
