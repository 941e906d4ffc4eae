import { Agent, Harness, type HarnessConfig } from "@cinch/core";
import { graphilePlacement, postgresStore, type PostgresOptions } from "@cinch/postgres";
import {
  compositeBackend,
  createWorkspace,
  directoryBackend,
  storeBackend,
  threadBackend,
  withPolicy,
  type Backend,
} from "@cinch/workspace";
import { obedient } from "../../workspace/test/undo/desk.ts";

export interface FilesOptions {
  store: PostgresOptions;
  /** The folder that all processes have. Without one, the files are in the store. */
  root?: string;
}

type Role = Pick<HarnessConfig, "worker"> & { beforeWrite?(): Promise<void> };

/** A worker or a front, whose model makes the calls that it is asked for. */
export function filesHarness({ store, root }: FilesOptions, { worker, beforeWrite }: Role = {}): Harness {
  const backend = withPolicy(root === undefined ? inStore() : directoryBackend({ root }), {
    before: async ({ operation }) => {
      if (operation === "write") await beforeWrite?.();
      return undefined;
    },
  });
  return new Harness({
    id: "files",
    storage: postgresStore(store),
    agent: new Agent({ name: "a", model: obedient() }),
    workspace: createWorkspace({ backend, ...(root !== undefined && { shared: true }) }),
    initialState: { yolo: true },
    placement: graphilePlacement(),
    ...(worker && { worker }),
  });
}

const inStore = (): Backend => compositeBackend({ default: threadBackend(), routes: { "/memories/": storeBackend() } });
