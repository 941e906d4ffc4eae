import type { ToolContext } from "@cinch/core";
import * as z from "zod";
import type { Backend, Reach } from "../backend.ts";
import { untilAborted } from "../contents/collect.ts";
import type { FileRules } from "../path-rules/index.ts";
import type { PathQueue } from "./path-queue.ts";

export interface FileToolsConfig {
  backend: Backend;
  rules: FileRules;
  /** The workspace path that the model's input means. Throws a `FileError`. */
  path?: (input: string) => string;
  /** Called after each write with the hash of the new contents; `null` after a deletion. */
  wrote?: (path: string, hash: string | null) => void;
  /** Shared by all tools that change the same files. */
  queue?: PathQueue;
}

/** What the file tools of one workspace share. */
export type FileToolDeps = Required<FileToolsConfig>;

/** A disk that does not answer must not block a turn for ever. */
const TIMEOUT_MS = 120_000;

export const READS = { category: "read", effect: "pure", timeoutMs: TIMEOUT_MS } as const;

/** Not idempotent: to run it again would overwrite later changes of the file. */
export const CHANGES = { category: "edit", effect: "once", timeoutMs: TIMEOUT_MS } as const;

/** The part of a context that reading takes: that of a call, or of its preview. */
export type ReadContext = Pick<ToolContext, "threadId" | "files" | "signal">;

export const reachOf = ({ threadId, files, signal }: ReadContext): Reach => ({
  threadId,
  resourceId: files.resourceId,
  files,
  signal,
});

export const readContents = (
  { backend }: FileToolDeps,
  { path, end }: { path: string; end?: number },
  context: ReadContext,
) => untilAborted(backend.read(path, { end }, reachOf(context)), context.signal);

/** A path as an argument. An invalid one is refused with the reason before an approval is asked for. */
export const pathInput = ({ path }: FileToolDeps, description: string) =>
  z
    .string()
    .check((context) => {
      try {
        path(context.value);
      } catch (error) {
        context.issues.push({ code: "custom", input: context.value, message: (error as Error).message });
      }
    })
    .describe(description);

/** Text for a file, as an argument. Half of a surrogate pair can't be written, and as `old_string` it would match within a character. */
export const textInput = (description: string) =>
  z
    .string()
    .refine(
      (text) => text.isWellFormed(),
      "holds half of a surrogate pair, which no file in UTF-8 can hold: give whole characters",
    )
    .describe(description);
