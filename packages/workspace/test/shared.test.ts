import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, memoryStore, type Placement } from "@cinch/core";
import { script } from "@cinch/testkit";
import {
  compositeBackend,
  createWorkspace,
  directoryBackend,
  localShell,
  localWorkspace,
  memoryBackend,
  storeBackend,
  threadBackend,
  withPolicy,
  type WorkspaceOptions,
} from "@cinch/workspace";
import { TemporaryFolder } from "./temporary-folder.ts";

const placement: Placement = { serve: async () => {}, wake: async () => {}, drain: async () => {} };

const harnessWith = (workspace: ReturnType<typeof createWorkspace>, options = {}): Harness =>
  new Harness({
    id: "t",
    agent: new Agent({ name: "a", model: script() }),
    storage: memoryStore(),
    workspace,
    placement,
    ...options,
  });

test("beside a placement, a workspace on a local disk is INVALID_CONFIG unless it is shared", async () => {
  await using folder = await TemporaryFolder.make();
  const root = folder.path;
  const refused = { code: "INVALID_CONFIG", message: /shared: true/ };
  assert.throws(() => harnessWith(localWorkspace({ root, sandbox: "none" })), refused);
  harnessWith(localWorkspace({ root, sandbox: "none", shared: true }));
  harnessWith(localWorkspace({ root, sandbox: "none" }), { placement: undefined });
});

test("a workspace is local if any of its files, or its commands, are on this machine alone", async () => {
  await using folder = await TemporaryFolder.make();
  const root = folder.path;
  const isLocal = (options: WorkspaceOptions) => createWorkspace(options).isLocal;
  const inStore = compositeBackend({ default: threadBackend(), routes: { "/memories/": storeBackend() } });
  const mixed = compositeBackend({ default: threadBackend(), routes: { "/repo/": directoryBackend({ root }) } });
  assert.deepEqual(
    [
      isLocal({ backend: inStore }),
      isLocal({ backend: withPolicy(inStore, {}) }),
      isLocal({ backend: mixed }),
      isLocal({ backend: withPolicy(mixed, {}) }),
      isLocal({ backend: memoryBackend() }),
      isLocal({ backend: inStore, shell: localShell({ root }) }),
      isLocal({ backend: mixed, shared: true }),
    ],
    [false, false, true, true, true, true, false],
  );
});
