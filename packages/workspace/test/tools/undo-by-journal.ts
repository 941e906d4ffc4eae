import { createHash } from "node:crypto";
import type { DurableEvent, Store } from "@cinch/core";
import type { FileVersion } from "@cinch/core/workspace";
import type { MapBackend } from "./map-backend.ts";

type Change = DurableEvent<"file_changed">;
const hashOf = (version: FileVersion | null): string | null => version?.hash ?? null;

/**
 * Reverts the changes of a thread by nothing but its journal. A recorded change may not have happened: then the next one has the same
 * `before`, or the file still has it. Where the `before` of a change is not the `after` of the change before it, another program wrote
 * the file: the revert goes back no further. Current contents that are not the thread's are not overwritten.
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
