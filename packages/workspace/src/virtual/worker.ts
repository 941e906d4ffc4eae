import { parentPort } from "node:worker_threads";
import { Bash } from "just-bash";
import type { VirtualFiles } from "./backend-files.ts";
import { type Ask, VirtualPlaces } from "./file-system.ts";

/** A command for the interpreter, which lives in a thread of its own: a loop in it must not stop the harness. */
export interface ToWorker {
  run?: { command: string; cwd: string; env: Record<string, string> };
  /** The answer to a call. */
  answer?: { id: number; value?: unknown; error?: { code: string; message: string } };
}

export interface FromWorker {
  call?: { id: number; name: keyof VirtualFiles; values: unknown[] };
  result?: { stdout: Uint8Array; stderr: Uint8Array; code: number };
}

/** What a command may print at most: it is all in memory until the end. */
const MOST_OUTPUT = 64 * 1024 * 1024;

const port = parentPort!;
const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
let last = 0;

const tell = (message: FromWorker) => port.postMessage(message);

const ask: Ask = (name, ...values) =>
  new Promise((resolve, reject) => {
    last += 1;
    waiting.set(last, { resolve, reject });
    tell({ call: { id: last, name, values } });
  });

port.on("message", ({ run, answer }: ToWorker) => {
  if (answer) {
    const { id, value, error } = answer;
    const call = waiting.get(id);
    waiting.delete(id);
    if (error) call?.reject(Object.assign(new Error(error.message), { code: error.code }));
    else call?.resolve(value as never);
  }
  if (run) {
    execute(run).then(
      (result) => tell({ result }),
      (error: unknown) =>
        tell({ result: { stdout: Buffer.alloc(0), stderr: Buffer.from(`${String(error)}\n`), code: 126 } }),
    );
  }
});

async function execute({
  command,
  cwd,
  env,
}: NonNullable<ToWorker["run"]>): Promise<NonNullable<FromWorker["result"]>> {
  const executionLimits = { maxOutputSize: MOST_OUTPUT };
  const bash = new Bash({ fs: new VirtualPlaces(ask), cwd, env: { ...env, PATH: "/usr/bin" }, executionLimits });
  const { stdout, stderr, exitCode, stdoutKind, stdoutEncoding } = await bash.exec(command, { rawScript: true });
  const binary = stdoutKind === "bytes" || stdoutEncoding === "binary";
  return { stdout: Buffer.from(stdout, binary ? "latin1" : "utf8"), stderr: Buffer.from(stderr), code: exitCode };
}
