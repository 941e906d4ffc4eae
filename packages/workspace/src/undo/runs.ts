import { randomBytes } from "node:crypto";
import { readdir, readFile, rename, rmdir, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isWithin } from "../paths.ts";
import { makePrivate } from "../private-folder.ts";

/** How often a command that runs says so. */
const MARK_MS = 200;
/** One that has not said so for this long may have died; until then it counts as running. */
const SILENT_MS = 5_000;
/** What is known of a command that died is kept for so long: what it did may still have to be recorded. */
const KEPT_MS = 60 * 60 * 1_000;
const RUNS = ".run";
const RAN = ".ran";

/** A command, as every harness of this user can see it. */
interface Trace {
  path: string;
  start: number;
  /** When it ended; while it runs, when it last said so. */
  end: number;
  runs: boolean;
  owner: string;
  root: string;
  threadId: string;
}

/**
 * Which commands run on which folders, in whatever harness or process of this user: a small file for each, which stays for as long as
 * another command runs that overlapped with it. What can't be written or read is not known: a command never fails because of it.
 */
export class Runs {
  readonly #folder: string;
  readonly #root: string | undefined;
  /** Tells the commands of this workspace from those of others. */
  readonly #owner = randomBytes(9).toString("base64url");

  /** `root`: the real folder that commands work on. Without one nothing is told, since no other workspace can be at the same files. */
  constructor(folder: string, root: string | undefined) {
    this.#folder = folder;
    this.#root = root;
  }

  /** Says that a command is about to run. Gives back how to say that it is over. */
  async begin(threadId: string): Promise<{ start: number; end(): Promise<void> }> {
    const start = Date.now();
    if (this.#root === undefined) return { start, end: async () => {} };
    const path = join(this.#folder, `${start}-${randomBytes(9).toString("base64url")}${RUNS}`);
    const trace = JSON.stringify({ owner: this.#owner, root: this.#root, threadId });
    const mark = () => utimes(path, new Date(), new Date());
    const write = () => makePrivate(this.#folder).then(() => writeFile(path, trace, { mode: 0o600 }));
    // Another process may have removed the folder right after it was made here.
    await write().catch(write).catch(ignored);
    const timer = setInterval(() => mark().catch(ignored), MARK_MS).unref();
    const end = async () => {
      clearInterval(timer);
      await mark().catch(ignored);
      await rename(path, path.slice(0, -RUNS.length) + RAN).catch(ignored);
      await this.#tidy().catch(ignored);
    };
    return { start, end };
  }

  /** Whether a command of another thread ran on this folder then. `elsewhere`: only those of other workspaces count. */
  async overlapped(
    { from, to = Infinity, threadId }: { from: number; to?: number; threadId: string },
    { elsewhere }: { elsewhere: boolean },
  ): Promise<boolean> {
    const root = this.#root;
    if (root === undefined) return false;
    const traces = await this.#traces().catch(() => []);
    return traces.some((one) => {
      const isOther = one.threadId !== threadId && !(elsewhere && one.owner === this.#owner);
      const isHere = isWithin(one.root, root) || isWithin(root, one.root);
      return isOther && isHere && one.start <= to && one.end + (one.runs ? SILENT_MS : 0) >= from;
    });
  }

  /** What ended before all that still runs began is of no use any more. */
  async #tidy(): Promise<void> {
    const traces = await this.#traces();
    const isForgotten = ({ runs, end }: Trace) => runs && Date.now() - end > KEPT_MS;
    const running = traces.filter((one) => one.runs && !isForgotten(one));
    const first = running.reduce((least, { start }) => Math.min(least, start), Infinity);
    const useless = traces.filter((one) => isForgotten(one) || (!one.runs && one.end < first));
    await Promise.all(useless.map(({ path }) => unlink(path).catch(ignored)));
    // Refused while there is anything in it.
    await rmdir(this.#folder);
  }

  async #traces(): Promise<Trace[]> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith(RUNS) || name.endsWith(RAN));
    const found = await Promise.all(names.map((name) => traceAt(join(this.#folder, name), name).catch(() => null)));
    return found.filter((one) => one !== null);
  }
}

/** Rejects if it is gone, or not whole. */
async function traceAt(path: string, name: string): Promise<Trace> {
  const [{ mtimeMs }, text] = await Promise.all([stat(path), readFile(path, "utf8")]);
  const { owner, root, threadId } = JSON.parse(text) as Pick<Trace, "owner" | "root" | "threadId">;
  return { path, start: Number.parseInt(name, 10), end: mtimeMs, runs: name.endsWith(RUNS), owner, root, threadId };
}

const ignored = (): void => undefined;
