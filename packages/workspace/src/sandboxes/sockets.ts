import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { basename } from "node:path";
import { setImmediate as pause } from "node:timers/promises";

/** How long the event loop is held up at a time. */
const SLICE_MS = 10;

/** A folder that was changed so shortly before it was read may have been changed again without a sign of it. */
const TICK_MS = 20;

/** More than this many mounts make no command line. */
const MOST = 1_000;

interface Known {
  /** When anything in it was last changed, which no program can forge. */
  changed: number;
  folders: string[];
  sockets: string[];
}

/** Finds the sockets in a folder of which a program outside could listen. What it found it remembers: it is asked before each command. */
export class Sockets {
  #known = new Map<string, Known>();

  async in(root: string): Promise<string[]> {
    const known = new Map<string, Known>();
    const waiting = [root];
    let since = performance.now();
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      const found = this.#look(folder);
      if (!found) continue;
      known.set(folder, found);
      waiting.push(...found.folders);
      if (performance.now() - since < SLICE_MS) continue;
      await pause();
      since = performance.now();
    }
    this.#known = known;
    const all = [...known.values()].flatMap(({ sockets }) => sockets);
    const open = all.length > 0 ? openNames() : undefined;
    const isLive = async (path: string) => open?.has(basename(path)) || !(await isDead(path));
    const live = await Promise.all(all.map(async (socket) => ((await isLive(socket)) ? [socket] : [])));
    if (live.flat().length > MOST) throw new Error(`There are more than ${MOST} sockets in the workspace.`);
    return live.flat();
  }

  /** `undefined` for what can't be read: a command can't read it either. */
  #look(folder: string): Known | undefined {
    try {
      const { ctimeMs } = lstatSync(folder);
      const before = this.#known.get(folder);
      if (before?.changed === ctimeMs) return before;
      const entries = readdirSync(folder, { withFileTypes: true });
      const paths = (wanted: typeof entries) => wanted.map(({ name }) => `${folder}/${name}`);
      return {
        changed: Date.now() - ctimeMs > TICK_MS ? ctimeMs : Number.NaN,
        folders: paths(entries.filter((entry) => entry.isDirectory())),
        sockets: paths(entries.filter((entry) => entry.isSocket())),
      };
    } catch {
      return undefined;
    }
  }
}

/** The last names of all sockets that are open in this network namespace. They need no connection, which could disturb a server. */
function openNames(): Set<string> {
  try {
    const lines = readFileSync("/proc/net/unix", "utf8").trimEnd().split("\n").slice(1);
    return new Set(lines.map((line) => basename(line)));
  } catch {
    return new Set();
  }
}

/** Nothing listens at it any more, and nothing ever will: who listens makes a new one. A program may want to remove it. */
function isDead(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const settle = (dead: boolean) => {
      socket.destroy();
      resolve(dead);
    };
    socket.once("connect", () => settle(false));
    socket.once("error", ({ code }: NodeJS.ErrnoException) => settle(code === "ECONNREFUSED" || code === "ENOENT"));
  });
}
