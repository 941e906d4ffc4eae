import { spawn } from "node:child_process";
import { type CommandGuard, MARK } from "./command-guard.ts";
import { closeTheirs, destroyOurs, openPipes } from "./pipes.ts";
import type { ProcessTree } from "./process-tree.ts";

export interface Launch {
  argv: string[];
  env: Record<string, string>;
  cwd: string;
  guard: CommandGuard;
  /** The shell that marks the process: bash, or any other that has `ulimit`. */
  shell: string;
  /** The PATH of programs that the harness itself runs. */
  hostPath: string;
  /** A private folder of the shell, which is deleted with it. */
  folder: string;
  /** Called with the mark at the very end, with "" if nothing was started. Returns whether the command left processes running. */
  onDone?: (mark: string) => boolean;
}

/** Sets the mark, closes file descriptors that the harness happens to have open, and becomes the command. */
const MARK_AND_EXEC = `
if [ -n "$BASH_VERSION" ]; then
  ulimit -x "$0" 2>/dev/null
  for fd in /dev/fd/*; do case \${fd##*/} in [012]) ;; *) eval "exec \${fd##*/}>&-" ;; esac; done
else
  ulimit -w "$0" 2>/dev/null
  exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
fi
exec "$@"`;

/** Starts a process in its own session. Rejects if that fails, or if its folder does not exist. One output has both streams. */
export async function launchProcess(launch: Launch, wanted: { input: boolean; outputs: 1 | 2 }) {
  const { argv, env, cwd, guard, shell, folder, hostPath } = launch;
  const pipes = await openPipes({ folder, path: hostPath }, wanted);
  const [stdout, stderr = stdout] = pipes.outputs;
  const [stdin] = pipes.inputs;
  const mark = guard.mark();
  try {
    const child = spawn(shell, ["-c", MARK_AND_EXEC, mark, ...argv], {
      cwd,
      env: { ...env, [MARK]: [process.env[MARK], mark].filter(Boolean).join(" ") },
      stdio: [stdin?.theirs ?? "ignore", stdout!.theirs, stderr!.theirs],
      detached: true,
    });
    const exited = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
      child.once("exit", (code, signal) => resolve({ code, signal }));
      child.once("error", reject);
    });
    if (child.pid === undefined) throw await exited.then(() => new Error("The process was not started."));
    guard.addGroup(child.pid);
    const tree: ProcessTree = { mark, group: child.pid };
    return { tree, exited, input: stdin?.ours, outputs: pipes.outputs.map(({ ours }) => ours) };
  } catch (error) {
    destroyOurs(pipes);
    if ((error as NodeJS.ErrnoException).code !== "E2BIG") throw error;
    throw new Error("The command is too long for a command line: write it to a file, and run that.", { cause: error });
  } finally {
    closeTheirs(pipes);
  }
}
