import { bwrapSandbox, srtSandbox, type Sandbox } from "@cinch/workspace";
import type { Diagnosis } from "./diagnosis.ts";

/** Tries the sandboxes in this folder, in the order in which a workspace does. */
export async function diagnoseSandbox(folder: string): Promise<Diagnosis[]> {
  const area = "sandbox";
  const reasons: string[] = [];
  for (const sandbox of [bwrapSandbox(), srtSandbox()]) {
    const problem = await problemOf(sandbox, folder);
    if (problem === undefined)
      return [{ area, status: "ok", message: sandbox.describe({ hosts: [], rules: [] }).replace(/\.$/, "") }];
    reasons.push(problem);
  }
  const message = `none works, so every command asks and nothing keeps it from your files: ${reasons.join(" ")}`;
  return [{ area, status: "warn", message, next: INSTALL[process.platform] ?? "run cinch in a container or in Linux" }];
}

const INSTALL: Partial<Record<NodeJS.Platform, string>> = {
  linux: "install bubblewrap: apt install bubblewrap, dnf install bubblewrap, or pacman -S bubblewrap",
};

async function problemOf(sandbox: Sandbox, folder: string): Promise<string | undefined> {
  try {
    const probe = await sandbox.probe(folder);
    return probe.works ? undefined : probe.reason;
  } finally {
    await sandbox.close?.();
  }
}
