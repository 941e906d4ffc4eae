import type { ToolContext } from "@cinch/core";
import * as z from "zod";
import type { Backend, Reach } from "../backend.ts";
import type { PathQueue } from "./path-queue.ts";
import type { FileRules } from "../path-rules/file-rules.ts";

/** What the file tools of one workspace share. */
export interface FileToolDeps {
  backend: Backend;
  rules: FileRules;
  queue: PathQueue;
  /** The path that is meant by what the model wrote. Throws a `FileError`. */
  path(input: string): string;
  /** Told what was written where, and what was deleted (`null`). */
  wrote(path: string, hash: string | null): void;
}

/** A tool that takes longer is stopped: a disk that does not answer must not hold up a turn for ever. */
export const TIMEOUT_MS = 120_000;

export const reachOf = ({ threadId, files, signal }: ToolContext): Reach => ({
  threadId,
  resourceId: files.resourceId,
  files,
  signal,
});

/** What a file holds, until it is told to stop. */
export async function* readContents(
  { backend }: FileToolDeps,
  { path, end }: { path: string; end?: number },
  context: ToolContext,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of backend.read(path, end === undefined ? {} : { end }, reachOf(context))) {
    context.signal.throwIfAborted();
    yield chunk;
  }
}

/** A path as an argument. One that can't be meant is refused with the reason before anybody is asked to approve the call. */
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
