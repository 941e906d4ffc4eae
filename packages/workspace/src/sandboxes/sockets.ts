import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { basename } from "node:path";
import { yieldIfDue } from "../contents/pace.ts";
import { MAX_MOUNTS } from "./masks.ts";

/** A folder that changed this shortly before it was read may change again with the same time. */
const TICK_MS = 20;

interface KnownFolder {
  /** The time of the last change (ctime), which no program can set. */
  changed: number;
  folders: string[];
  sockets: string[];
}

/** Finds sockets in a folder at which a program outside may listen. It runs before each command, so it remembers unchanged folders. */
export class Sockets {
  #known = new Map<string, KnownFolder>();

  async in(root: string): Promise<string[]> {
    const known = new Map<string, KnownFolder>();
    const waiting = [root];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      const found = this.#look(folder);
      if (!found) continue;
      known.set(folder, found);
      waiting.push(...found.folders);
      await yieldIfDue();
    }
    this.#known = known;
    const all = [...known.values()].flatMap(({ sockets }) => sockets);
    const open = all.length > 0 ? openNames() : undefined;
    const isLive = async (path: string) => open?.has(basename(path)) || !(await isDead(path));
    const live = await Promise.all(all.map(async (socket) => ((await isLive(socket)) ? [socket] : [])));
    if (live.flat().length > MAX_MOUNTS)
      throw new Error(`There are more than ${MAX_MOUNTS} sockets in the workspace. Delete some.`);
    return live.flat();
  }

  /** `undefined` if the folder can't be read: then commands can't read it either. */
  #look(folder: string): KnownFolder | undefined {
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

/** The base names of all open sockets in this network namespace. Unlike a connection, this does not disturb a server. */
function openNames(): Set<string> {
  try {
    const lines = readFileSync("/proc/net/unix", "utf8").trimEnd().split("\n").slice(1);
    return new Set(lines.map((line) => basename(line)));
  } catch {
    return new Set();
  }
}

/** Nothing listens at it, and nothing will, because a server makes a new one. It is left alone, so that a command can remove it. */
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
