import { execFile } from "node:child_process";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { inherited } from "./cli.ts";
import { MAIN } from "./programs.ts";

const run = promisify(execFile);
const IN_NAMESPACE = ["--user", "--map-root-user", "--mount"];

interface MountOptions {
  /** Given to the script as `$1`. `$2` is Node and `$3` the program. */
  folder: string;
  env: Record<string, string>;
  cwd?: string;
}

/** Runs a shell script that may mount a disk. Where that is not permitted, the test is skipped. */
export async function runWithMounts(
  t: TestContext,
  script: string,
  { folder, env, cwd = folder }: MountOptions,
): Promise<{ stdout: string; stderr: string } | undefined> {
  try {
    await run("unshare", [...IN_NAMESPACE, "true"]);
  } catch {
    t.skip("no disk can be mounted here (unshare is not permitted)");
    return undefined;
  }
  const args = [...IN_NAMESPACE, "sh", "-c", script, "sh", folder, process.execPath, MAIN];
  return run("unshare", args, { env: { ...inherited(), ...env }, cwd });
}
