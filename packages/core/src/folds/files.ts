import type { DurableEvent } from "../events/event-map.ts";
import type { FileRestore, HeldFile, RewoundFile } from "../events/files.ts";
import { without } from "./without.ts";
import { emptyTrie, trieDelete, trieSet, type Trie } from "./trie.ts";

/** The files of a thread. */
export interface FilesState {
  /** By path, the files that are stored in its journal. */
  held: Trie<HeldFile>;
  /** By path, the texts that were offloaded. */
  offloaded: Trie<HeldFile>;
  /** By path, the version that the thread has last read or written. */
  seen: Trie<string>;
  /** The newest turn with a checkpoint before its first change. */
  checkpoint: string | null;
  /** By call, the snapshot before a command whose changes are not recorded yet. */
  trees: Readonly<Record<string, string>>;
  /** Files that have to be reverted before the thread continues. */
  restoring: { seq: number; files: readonly FileRestore[] } | null;
  /** The outcome of the last revert. */
  restored: { seq: number; files: readonly RewoundFile[] } | null;
}

export const noFiles: FilesState = {
  held: emptyTrie,
  offloaded: emptyTrie,
  seen: emptyTrie,
  checkpoint: null,
  trees: {},
  restoring: null,
  restored: null,
};

export function reduceFiles(files: FilesState, event: DurableEvent): FilesState {
  switch (event.type) {
    case "thread_cloned":
    case "thread_rewound":
      return { ...files, checkpoint: null, trees: {}, restoring: null, restored: null };
    case "tool_end": {
      const reads = Object.entries(event.reads ?? {});
      const seen = reads.reduce<Trie<string>>((all, [path, version]) => trieSet(all, path, version), files.seen);
      // If the outcome of the call is unknown, so is what it did to files.
      const trees = event.unknown ? files.trees : without(files.trees, event.toolCallId);
      return seen === files.seen && trees === files.trees ? files : { ...files, seen, trees };
    }
    case "file_changed": {
      const { path, after, version, held, seq, at, operation } = event;
      // The thread has not seen what a command wrote: `seen` stays at the version that it read last, which the file no longer has.
      const seen = operation === "command" ? files.seen : seenAfter(files.seen, path, version);
      if (!held) return { ...files, seen };
      const now = after ? trieSet(files.held, path, { version: after, seq, at }) : trieDelete(files.held, path);
      return { ...files, held: now, seen };
    }
    case "context_offloaded": {
      const { path, blob, bytes: size, seq, at } = event;
      const version = { hash: blob, size, parts: [{ blob, size }] };
      return { ...files, offloaded: trieSet(files.offloaded, path, { version, seq, at }) };
    }
    case "checkpoint_created":
      return reduceCheckpoint(files, event);
    default:
      return files;
  }
}

const seenAfter = (seen: Trie<string>, path: string, version: string | undefined): Trie<string> =>
  version === undefined ? trieDelete(seen, path) : trieSet(seen, path, version);

function reduceCheckpoint(files: FilesState, event: DurableEvent<"checkpoint_created">): FilesState {
  const { reason, call = "", tree, turnId = null, seq } = event;
  switch (reason) {
    case "change":
      return { ...files, checkpoint: turnId };
    case "command":
      return {
        ...files,
        checkpoint: turnId,
        trees: tree === undefined ? files.trees : { ...files.trees, [call]: tree },
      };
    case "settled":
      return { ...files, trees: without(files.trees, call) };
    case "restore":
      return { ...files, restoring: { seq, files: event.restore ?? [] } };
    case "restored":
      return { ...files, restoring: null, restored: { seq, files: event.restored ?? [] } };
  }
}
