import { execFile } from "node:child_process";
import { closeSync, constants, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const run = promisify(execFile);

/** A real pipe between this process and one that it is about to start. */
export interface Pipe {
  /** For `stdio` of `spawn`; to be closed after it. */
  theirs: number;
  /** To be called after `spawn`, once. */
  ours(): Socket;
}

export interface PipePlace {
  folder: string;
  /** The PATH on which the program is that makes pipes. */
  path: string;
}

let made = 0;

/**
 * Node gives a child sockets instead of pipes, and those can't be opened by name: `echo … > /dev/stderr`, which scripts do, would fail.
 * The files in `folder` that make the pipes are gone when this settles.
 */
export async function openPipes({ folder, path }: PipePlace, ways: readonly ("in" | "out")[]): Promise<Pipe[]> {
  made += 1;
  const names = ways.map((_way, n) => join(folder, `${made}.${n}`));
  await run("mkfifo", ["-m", "600", ...names], { env: { PATH: path } });
  const open: Pipe[] = [];
  try {
    for (const [n, way] of ways.entries()) open.push(way === "in" ? toChild(names[n]!) : fromChild(names[n]!));
    return open;
  } catch (error) {
    for (const pipe of open) {
      closeSync(pipe.theirs);
      pipe.ours().destroy();
    }
    throw error;
  } finally {
    for (const name of names) rmSync(name, { force: true });
  }
}

// An end that is opened without waiting stays that way for everybody who shares it, and programs don't expect it of their standard
// streams. So theirs is opened in the ordinary way, when the other end is open already and there is nothing to wait for.

function fromChild(name: string): Pipe {
  const ours = openSync(name, O_RDONLY | O_NONBLOCK);
  const theirs = openSync(name, O_WRONLY);
  return { theirs, ours: () => new Socket({ fd: ours, readable: true, writable: false }) };
}

function toChild(name: string): Pipe {
  const first = openSync(name, O_RDONLY | O_NONBLOCK);
  const ours = openSync(name, O_WRONLY | O_NONBLOCK);
  const theirs = openSync(name, O_RDONLY);
  closeSync(first);
  return { theirs, ours: () => new Socket({ fd: ours, readable: false, writable: true }) };
}
