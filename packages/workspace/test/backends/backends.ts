import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { BackendUnderTest } from "@cinch/testkit";
import {
  compositeBackend,
  directoryBackend,
  memoryBackend,
  pathRules,
  withPolicy,
  type Backend,
} from "@cinch/workspace";
import { ruleHooks } from "../../src/path-rules/rule-hooks.ts";
import { TemporaryFolder, reach } from "../temporary-folder.ts";

/** With a folder that is removed after the test. */
async function withFolder(
  make: (root: string) => Backend,
  about: Partial<BackendUnderTest> = {},
): Promise<BackendUnderTest> {
  const place = await TemporaryFolder.make();
  return { backend: make(place.path), reach, dispose: () => place[Symbol.asyncDispose](), ...about };
}

function folderIn(root: string, name: string): Backend {
  mkdirSync(join(root, name));
  return directoryBackend({ root: join(root, name) });
}

const rules = pathRules([
  { operations: ["read", "write"], paths: ["/secret/**", "**/*.pem"], mode: "deny" },
  { operations: ["write"], paths: ["/**"], mode: "allow" },
]);

/** Each kind of backend, empty. */
export const backends: Record<string, () => Promise<BackendUnderTest>> = {
  memory: async () => ({ backend: memoryBackend(), reach, inMemory: true }),

  "a directory": () => withFolder((root) => directoryBackend({ root })),

  "a directory without descriptors": () => withFolder((root) => directoryBackend({ root, confinement: "checks" })),

  "memory with directories under it": () =>
    withFolder(
      (root) =>
        compositeBackend({
          default: memoryBackend(),
          routes: { "/src/lib": folderIn(root, "lib"), "/docs/": folderIn(root, "docs") },
        }),
      { always: ["/src", "/docs"], inMemory: true },
    ),

  "a directory with memory under it": () =>
    withFolder(
      (root) =>
        compositeBackend({
          default: folderIn(root, "default"),
          routes: { "/src": memoryBackend(), "/docs": memoryBackend(), "/src/lib/deep": folderIn(root, "deep") },
        }),
      { always: ["/src", "/docs"] },
    ),

  "a directory that asks before it acts": () =>
    withFolder((root) => withPolicy(directoryBackend({ root }), { before: () => undefined, after: () => {} })),

  "memory under path rules": async () => ({
    backend: withPolicy(memoryBackend(), ruleHooks(rules)),
    reach,
    inMemory: true,
  }),
};
