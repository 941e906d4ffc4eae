import { bwrapSandbox, type Sandbox, srtSandbox } from "@cinch/workspace";

/** The available sandboxes. Each is opened once for all tests, because that is slow. */
export interface Known {
  title: string;
  /** As `shell-harness.ts` calls it. */
  name: string;
  /** For `skip`: why it does not work here. */
  why: string | false;
  /** For a shell, which may close the sandbox that it gets. */
  lend(): Sandbox;
  close(): Promise<void>;
}

async function known(name: string, sandbox: Sandbox): Promise<Known> {
  const probe = await sandbox.probe();
  return {
    title: sandbox.name,
    name,
    why: probe.works ? false : probe.reason,
    lend: () => ({ ...sandbox, close: async () => {} }),
    close: async () => sandbox.close?.(),
  };
}

export const bubblewrap = await known("bwrap", bwrapSandbox());
export const sandboxRuntime = await known("srt", srtSandbox());
