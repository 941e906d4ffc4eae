import * as z from "zod/mini";
import type { Clock } from "../ports/clock.ts";
import type { ContextSource } from "../ports/context-source.ts";
import type { Live } from "../ports/live.ts";
import type { Memory } from "../ports/memory.ts";
import type { Placement } from "../ports/placement.ts";
import type { Store } from "../ports/store.ts";
import type { Workspace } from "../ports/workspace.ts";

/** Accepts an object with these methods. The conformance suites test what the methods do. */
const withMethods = <T>(what: string, methods: readonly (keyof T & string)[]) => {
  const missingIn = (value: unknown): string[] => {
    if (typeof value !== "object" || value === null) return [...methods];
    return methods.filter((method) => typeof (value as Record<string, unknown>)[method] !== "function");
  };
  return z.custom<T>((value) => missingIn(value).length === 0, {
    error: ({ input }) => {
      const missing = missingIn(input);
      return missing.length < methods.length
        ? `must be ${what}; this one lacks ${missing.join(", ")}`
        : `must be ${what}`;
    },
  });
};

export const StoreValue = withMethods<Store>(
  'a store: sqliteStore({ path: "cinch.db" }) of @cinch/sqlite, memoryStore(), or one of your own',
  [
    "open",
    "close",
    "append",
    "read",
    "findInput",
    "findBlob",
    "findEvents",
    "thread",
    "threads",
    "deleteThread",
    "lease",
    "holds",
    "release",
    "blob",
    "saveDraft",
    "draft",
    "follow",
    "followThreads",
  ],
);

export const WorkspaceValue = withMethods<Workspace>(
  "a workspace: localWorkspace({ root }) of @cinch/workspace, or one of your own",
  ["open", "close"],
);

export const PlacementValue = withMethods<Placement>(
  "a placement: restatePlacement() of @cinch/restate, graphilePlacement() of @cinch/postgres, or one of your own",
  ["serve", "wake", "drain"],
);

export const MemoryValue = withMethods<Memory>(
  "a memory: observationalMemory() or summaries() of @cinch/memory, or one of your own",
  ["plan", "summarise"],
);

export const LiveValue = withMethods<Live>("a live link: peerLive() of @cinch/postgres, or one of your own", [
  "open",
  "follow",
  "close",
]);

const SourceValue = withMethods<ContextSource>(
  "a context source: an object with a name and read(), such as skills() or agentsMd() of @cinch/memory",
  ["read"],
).check(z.refine(({ name }) => typeof name === "string" && name !== "", "must have a name"));

export const ContextSources = z
  .array(SourceValue)
  .check(
    z.refine(
      (sources) => new Set(sources.map(({ name }) => name)).size === sources.length,
      "has two sources of one name. Rename one",
    ),
  );

export const ClockValue = withMethods<Clock>("a clock: an object with now() and after()", ["now", "after"]);
