import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** It waits for something that may never come, such as a pipe that was put in the place of an ignore file. */
export class Stalled extends Error {
  override readonly name = "Stalled";
}

const LOOK_MS = 250;
const LOOKS = 3;

/** What comes from a process, as long as that does something; otherwise it is killed. Who reads slowly does not count. */
export async function* unlessStalled<T>(
  items: AsyncIterable<T>,
  { pid, kill }: { pid: number; kill(): void },
): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = iterator.next();
      const item = await Promise.race([next, stall(pid, next)]);
      if (item === undefined) {
        kill();
        throw new Stalled("ripgrep waits for something that does not come.");
      }
      if (item.done) return;
      yield item.value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** `undefined` when the process has done nothing for a while; what `next` gives otherwise. */
async function stall<T>(pid: number, next: Promise<T>): Promise<T | undefined> {
  let [before, idle] = ["", 0];
  for (;;) {
    const done = await Promise.race([next.then((value) => ({ value })), sleep(LOOK_MS, undefined, { ref: false })]);
    if (done) return done.value;
    const now = await workOf(pid);
    if (now === undefined) return next;
    idle = now === before ? idle + 1 : 0;
    if (idle >= LOOKS) return undefined;
    before = now;
  }
}

/** What it has computed and read so far; `undefined` if nobody can tell. */
async function workOf(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    const [, , , , , , , , , , , user, system] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [read] = (await readFile(`/proc/${pid}/io`, "utf8")).split("\n");
    return `${user} ${system} ${read}`;
  } catch {
    return undefined;
  }
}
