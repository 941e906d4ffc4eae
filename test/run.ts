import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface RunResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a program. Does not reject if the program fails: `code` is its exit code. */
export function run(
  file: string,
  args: readonly string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<RunResult> {
  return promisify(execFile)(file, args, { cwd, env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: RunResult) => ({ code, stdout, stderr }),
  );
}
