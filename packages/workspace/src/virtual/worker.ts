import { parentPort } from "node:worker_threads";
import { Bash } from "just-bash";
import type { BackendFiles } from "./backend-files.ts";
import { type CallBackend, VirtualFileSystem } from "./file-system.ts";

/** The interpreter runs in its own thread, because an endless loop in it must not stop the harness. */
export interface ToWorker {
  run?: { command: string; cwd: string; env: Record<string, string> };
  /** The answer to a call. */
  answer?: { id: number; value?: unknown; error?: { code: string; message: string } };
}

export interface FromWorker {
  call?: { id: number; name: keyof BackendFiles; values: unknown[] };
  result?: { stdout: Uint8Array; stderr: Uint8Array; code: number };
}

/** All output is in memory until the end of the command. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

const port = parentPort!;
const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
let last = 0;

const send = (message: FromWorker) => port.postMessage(message);

const callBackend: CallBackend = (name, ...values) =>
  new Promise((resolve, reject) => {
    last += 1;
    waiting.set(last, { resolve, reject });
    send({ call: { id: last, name, values } });
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
    interpret(run).then(
      (result) => send({ result }),
      (error: unknown) =>
        send({ result: { stdout: Buffer.alloc(0), stderr: Buffer.from(`${String(error)}\n`), code: 126 } }),
    );
  }
});

async function interpret({
  command,
  cwd,
  env,
}: NonNullable<ToWorker["run"]>): Promise<NonNullable<FromWorker["result"]>> {
  const fs = new VirtualFileSystem(callBackend);
  const executionLimits = { maxOutputSize: MAX_OUTPUT_BYTES };
  const bash = new Bash({ fs, cwd, env: { ...env, PATH: "/usr/bin" }, executionLimits });
  const { stdout, stderr, exitCode, stdoutKind, stdoutEncoding } = await bash.exec(command, { rawScript: true });
  const binary = stdoutKind === "bytes" || stdoutEncoding === "binary";
  return { stdout: Buffer.from(stdout, binary ? "latin1" : "utf8"), stderr: Buffer.from(stderr), code: exitCode };
}
