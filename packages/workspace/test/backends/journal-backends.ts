import { Agent, Harness, memoryStore, type Store, type Workspace } from "@cinch/core";
import type { ThreadFiles, WorkspaceHost } from "@cinch/core/workspace";
import type { BackendUnderTest } from "@cinch/testkit";
import { sqliteStore } from "@cinch/sqlite";
import { join } from "node:path";
import { storeBackend, threadBackend, type Backend } from "@cinch/workspace";
import { TemporaryFolder, reach } from "../temporary-folder.ts";

/** What a workspace gets from a harness on this store. */
export async function hostOn(storage: Store): Promise<{ host: WorkspaceHost; harness: Harness }> {
  const opened = Promise.withResolvers<WorkspaceHost>();
  const workspace: Workspace = {
    tools: {},
    open: async (host) => {
      opened.resolve(host);
      return { protection: "none", description: "" };
    },
    close: async () => undefined,
  };
  const harness = new Harness({ id: "x", agent: new Agent({ name: "a" }), storage, workspace });
  await harness.init();
  return { host: await opened.promise, harness };
}

async function hosted(
  make: (host: WorkspaceHost) => Promise<Omit<BackendUnderTest, "dispose">>,
  { inMemory = false } = {},
): Promise<BackendUnderTest> {
  const place = await TemporaryFolder.make();
  const { host, harness } = await hostOn(
    inMemory ? memoryStore() : sqliteStore({ path: join(place.path, "cinch.db") }),
  );
  const dispose = async () => {
    await harness.close();
    await place[Symbol.asyncDispose]();
  };
  return { ...(await make(host)), inMemory, dispose };
}

/** Each kind of backend that stores files in a journal, empty. */
export const journalBackends: Record<string, () => Promise<BackendUnderTest>> = {
  "a store": () =>
    hosted(async (host) => {
      const backend: Backend = storeBackend();
      await backend.open?.(host);
      return { backend, reach };
    }),
  "a thread": () =>
    hosted(
      async (host) => {
        // A shared journal treats files like the journal of a thread.
        const files = (await host.shared("a thread")) as ThreadFiles;
        return { backend: threadBackend(), reach: { ...reach, files } };
      },
      { inMemory: true },
    ),
};
