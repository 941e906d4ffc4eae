import { execFile } from "node:child_process";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const run = promisify(execFile);

interface Pipe<End> {
  /** For `stdio` of `spawn`; closed after it. */
  theirs: number;
  ours: End;
}

export interface Pipes {
  outputs: Pipe<PipeReader>[];
  /** One, or none. */
  inputs: Pipe<Socket>[];
}

const READ_BYTES = 64 * 1024;

/**
 * Our end of a pipe that a command prints to. It reads into one buffer. Node would allocate one for each read, and a command that prints
 * fast makes garbage faster than it is collected: 80 MB on a busy machine.
 */
export class PipeReader {
  readonly #fd: number;
  #socket: Socket | undefined;
  #destroyed = false;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Settles at the end of the output, or when the reader is destroyed. A chunk is valid until `onChunk` settles. */
  async read(onChunk: (chunk: Uint8Array) => Promise<void>): Promise<void> {
    if (this.#destroyed) return;
    const resume = () => void this.#socket?.resume();
    const callback = (length: number, buffer: Uint8Array) => {
      onChunk(buffer.subarray(0, length)).then(resume, resume);
      // Pauses, so that the buffer is not overwritten before `resume`.
      return false;
    };
    const onread = { buffer: new Uint8Array(READ_BYTES), callback };
    this.#socket = new Socket({ fd: this.#fd, readable: true, writable: false, onread });
    // An error ends the output: "close" follows.
    this.#socket.on("error", () => {}).resume();
    await new Promise<void>((resolve) => this.#socket?.once("close", () => resolve()));
  }

  destroy(): void {
    if (!this.#socket && !this.#destroyed) closeSync(this.#fd);
    this.#destroyed = true;
    this.#socket?.destroy();
  }
}

let made = 0;

/**
 * Makes named pipes in `folder`, with the `mkfifo` on `path`, and removes their names. Node would give the child sockets, which can't be
 * opened by name: `echo … > /dev/stderr`, which scripts do, would fail.
 */
export async function openPipes(
  { folder, path }: { folder: string; path: string },
  wanted: { outputs: 1 | 2; input: boolean },
): Promise<Pipes> {
  made += 1;
  const outputNames = Array.from({ length: wanted.outputs }, (_, n) => join(folder, `${made}.out${n}`));
  const inputNames = wanted.input ? [join(folder, `${made}.in`)] : [];
  const names = [...outputNames, ...inputNames];
  await run("mkfifo", ["-m", "600", ...names], { env: { PATH: path } });
  const pipes: Pipes = { outputs: [], inputs: [] };
  try {
    for (const name of outputNames) pipes.outputs.push(fromChild(name));
    for (const name of inputNames) pipes.inputs.push(toChild(name));
    return pipes;
  } catch (error) {
    closeTheirs(pipes);
    destroyOurs(pipes);
    throw error;
  } finally {
    for (const name of names) rmSync(name, { force: true });
  }
}

/** Call it after `spawn`, even if that failed. */
export function closeTheirs({ outputs, inputs }: Pipes): void {
  for (const { theirs } of [...outputs, ...inputs]) closeSync(theirs);
}

export function destroyOurs({ outputs, inputs }: Pipes): void {
  for (const { ours } of [...outputs, ...inputs]) ours.destroy();
}

// O_NONBLOCK holds for every process that shares an end, and programs don't expect it of their standard streams. So the child's end is
// opened without it, after ours, when opening does not block.

function fromChild(name: string): Pipe<PipeReader> {
  const ours = openSync(name, O_RDONLY | O_NONBLOCK);
  return { theirs: openSync(name, O_WRONLY), ours: new PipeReader(ours) };
}

function toChild(name: string): Pipe<Socket> {
  const first = openSync(name, O_RDONLY | O_NONBLOCK);
  const ours = openSync(name, O_WRONLY | O_NONBLOCK);
  const theirs = openSync(name, O_RDONLY);
  closeSync(first);
  return { theirs, ours: new Socket({ fd: ours, readable: false, writable: true }) };
}
