import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import { type Leash, MARK } from "./leash.ts";
import { closeTheirs, destroyOurs, openPipes, type PipeReader } from "./pipes.ts";
import type { Tree } from "./process-tree.ts";

/** What is to be run, and with what. */
export interface Launch {
  argv: string[];
  env: Record<string, string>;
  /** A real folder. */
  cwd: string;
  leash: Leash;
  /** The program that puts the command on the leash: bash, or any shell that knows `ulimit`. */
  shell: string;
  /** The PATH of programs that the harness runs itself. */
  hostPath: string;
  /** The shell's own, in which nobody else writes, and which goes with it. */
  folder: string;
  /** Called with the mark when everything is over. Whether the command left something running. */
  done?: (mark: string) => boolean;
}

/** A process that was started. */
export interface Launched {
  tree: Tree;
  exited: Promise<{ code: number | null; signal: string | null }>;
  input: Socket | undefined;
  /** Standard output, and standard error unless both are one. */
  outputs: PipeReader[];
}

/**
 * Puts the mark on itself, lets go of files that somebody left open for the harness and that are none of the command's business, and
 * becomes the command.
 */
const PUT_ON_LEASH = `
if [ -n "$BASH_VERSION" ]; then
  ulimit -x "$0" 2>/dev/null
  for fd in /dev/fd/*; do case \${fd##*/} in [012]) ;; *) eval "exec \${fd##*/}>&-" ;; esac; done
else
  ulimit -w "$0" 2>/dev/null
  exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
fi
exec "$@"`;

/** Starts it, in a session of its own. Rejects if that can't be done, or if there is no such folder. */
export async function start(launch: Launch, wanted: { input: boolean; outputs: 1 | 2 }): Promise<Launched> {
  const { argv, env, cwd, leash, shell, folder, hostPath } = launch;
  const pipes = await openPipes({ folder, path: hostPath }, wanted);
  const [stdout, stderr = stdout] = pipes.outputs;
  const [stdin] = pipes.inputs;
  const mark = leash.mark();
  try {
    const child = spawn(shell, ["-c", PUT_ON_LEASH, mark, ...argv], {
      cwd,
      env: { ...env, [MARK]: [process.env[MARK], mark].filter(Boolean).join(" ") },
      stdio: [stdin?.theirs ?? "ignore", stdout!.theirs, stderr!.theirs],
      detached: true,
    });
    const exited = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
      child.once("exit", (code, signal) => resolve({ code, signal }));
      child.once("error", reject);
    });
    if (child.pid === undefined) throw await exited.then(() => new Error("Not started."));
    leash.hold(child.pid);
    return {
      tree: { mark, group: child.pid },
      exited,
      input: stdin?.ours,
      outputs: pipes.outputs.map(({ ours }) => ours),
    };
  } catch (error) {
    destroyOurs(pipes);
    if ((error as NodeJS.ErrnoException).code !== "E2BIG") throw error;
    throw new Error("The command is too long for a command line: write it to a file, and run that.", { cause: error });
  } finally {
    closeTheirs(pipes);
  }
}
