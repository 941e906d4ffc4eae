import assert from "node:assert/strict";
import type { Reach } from "@cinch/workspace/backend";
import { all, type BackendCheck, type Files, streamOf } from "./files.ts";

const stopped = new Error("stopped");
const isStopped = (error: unknown) => error === stopped;

const grep = { pattern: "x", path: "/", regex: false, ignoreCase: false };

export function aborting(check: BackendCheck): void {
  check("after an abort every call rejects with the reason of the abort, and does nothing", async (files) => {
    await files.write("/a", "x");
    const { backend } = files;
    const reach: Reach = { ...files.reach, signal: AbortSignal.abort(stopped) };
    await assert.rejects(backend.list("/", reach), isStopped);
    await assert.rejects(backend.stat("/a", reach), isStopped);
    await assert.rejects(all(backend.read("/a", {}, reach)), isStopped);
    await assert.rejects(backend.write("/b", streamOf("y"), {}, reach), isStopped);
    await assert.rejects(backend.delete("/a", reach), isStopped);
    await assert.rejects(all(backend.glob({ pattern: "**", path: "/" }, reach)), isStopped);
    await assert.rejects(all(backend.grep(grep, reach)), isStopped);
    await assert.rejects(all(backend.grep({ ...grep, regex: true }, reach)), isStopped);
    assert.deepEqual(await files.names("/"), ["/a file"]);
  });

  check("an aborted read ends at once", async (files) => {
    await files.write("/large", Buffer.alloc(4_000_000, "x"));
    const { reach, abort } = aborted(files);
    const reading = async () => {
      for await (const _ of files.backend.read("/large", {}, reach)) abort();
    };
    await assert.rejects(reading(), isStopped);
  });

  check("an aborted write changes nothing", async (files) => {
    await files.write("/a", "old");
    const { reach, abort } = aborted(files);
    async function* content() {
      yield new TextEncoder().encode("half");
      abort();
      yield new TextEncoder().encode("whole");
    }
    await assert.rejects(files.backend.write("/a", content(), {}, reach), isStopped);
    assert.deepEqual([await files.text("/a"), await files.names("/")], ["old", ["/a file"]]);
  });

  check("an aborted search ends at once", async (files) => {
    await Promise.all(Array.from({ length: 60 }, (_, at) => files.write(`/many/${at}`, "x\n".repeat(5_000))));
    for (const regex of [false, true]) {
      const { reach, abort } = aborted(files);
      const searching = async () => {
        for await (const _ of files.backend.grep({ ...grep, regex }, reach)) abort();
      };
      await assert.rejects(searching(), isStopped);
    }
  });
}

function aborted(files: Files): { reach: Reach; abort(): void } {
  const controller = new AbortController();
  return { reach: { ...files.reach, signal: controller.signal }, abort: () => controller.abort(stopped) };
}
