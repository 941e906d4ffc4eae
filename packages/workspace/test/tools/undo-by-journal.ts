import { createHash } from "node:crypto";
import type { DurableEvent, FileVersion, Store } from "@cinch/core";
import type { MapBackend } from "./map-backend.ts";

type Change = DurableEvent<"file_changed">;
const hashOf = (version: FileVersion | null): string | null => version?.hash ?? null;

/**
 * Takes back what a thread did to files, by nothing but its journal, as journals are meant to be read. A change may not have happened:
 * then the next one begins where it began, or the file is what it was. Where a change begins with what none before it left, somebody
 * else was at the file: nobody goes back behind that, nor over what is there now if it is not the thread's.
 */
export async function undo(changes: readonly Change[], backend: MapBackend, store: Store): Promise<void> {
  for (const [path, own] of Map.groupBy(changes, (change) => change.path)) {
    const file = backend.files.get(path);
    const now = file ? createHash("sha256").update(file.bytes).digest("hex") : null;
    const last = own.at(-1)!;
    if (now !== hashOf(last.after) && now !== hashOf(last.before)) continue;
    const target = targetOf(own);
    if (hashOf(target) === now) continue;
    if (!target) backend.files.delete(path);
    else backend.put(path, await bytesOf(target, store));
  }
}

function targetOf(changes: readonly Change[]): FileVersion | null {
  let target = changes.at(-1)!.before;
  for (const change of changes.slice(0, -1).toReversed()) {
    if (hashOf(change.after) === hashOf(target)) target = change.before;
    else if (hashOf(change.before) !== hashOf(target)) break;
  }
  return target;
}

async function bytesOf({ parts }: FileVersion, store: Store): Promise<Uint8Array> {
  if (!parts) throw new Error("What is to be restored was not kept.");
  return Buffer.concat(await Promise.all(parts.map(async ({ blob }) => (await store.blob(blob))!)));
}
