import { randomBytes } from "node:crypto";
import { readdir, readFile, rename, rmdir, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isWithin } from "../paths.ts";
import { makePrivate } from "../private-folder.ts";

/** How often a command that runs says so. */
const MARK_MS = 200;
/** One that has not said so for this long may have died; until then it counts as running. */
const SILENT_MS = 5_000;
/** How long the process that says so may be stopped while its command runs on. */
const STOPPED_MS = 60_000;
/** The trace of a command that died is kept for so long: what the command did may still have to be recorded. */
const KEPT_MS = 60 * 60 * 1_000;
const RUNS = ".run";
const RAN = ".ran";

/** A command, as every harness of this user can see it. */
interface Trace extends Contents {
  path: string;
  start: number;
  /** When it ended; while it runs, when it last said so. */
  end: number;
  runs: boolean;
}

/** What stands in the file of a trace. It never changes. */
interface Contents {
  owner: string;
  root: string;
  threadId: string;
}

/**
 * Which commands run on which folders, in whatever harness or process of this user: a small file for each, which stays for as long as
 * a command of another thread on the same files runs that overlapped with it. What can't be written or read is not known: a command
 * never fails because of it.
 */
export class Runs {
  readonly #folder: string;
  readonly #root: string | undefined;
  /** Tells the commands of this workspace from those of others. */
  readonly #owner = randomBytes(9).toString("base64url");
  /** By the name of the file: each is read once. */
  #contents = new Map<string, Contents>();

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
      return isOther && isSameFiles(one.root, root) && one.start <= to && one.end + (one.runs ? SILENT_MS : 0) >= from;
    });
  }

  /** A trace is of use while a command runs, or died not long ago, whose changes may be those of the traced one. */
  async #tidy(): Promise<void> {
    const traces = await this.#traces();
    const now = Date.now();
    const running = traces.filter(({ runs, end }) => runs && now - end <= KEPT_MS);
    const isOfUse = (trace: Trace) =>
      trace.runs ? running.includes(trace) : running.some((one) => mayShare(one, trace));
    const useless = traces.filter((trace) => !isOfUse(trace));
    await Promise.all(useless.map(({ path }) => unlink(path).catch(ignored)));
    // Refused while there is anything in it.
    await rmdir(this.#folder);
  }

  async #traces(): Promise<Trace[]> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith(RUNS) || name.endsWith(RAN));
    const found = await Promise.all(names.map((name) => this.#trace(name).catch(() => null)));
    const traces = found.filter((one) => one !== null);
    this.#contents = new Map(traces.map(({ path, owner, root, threadId }) => [path, { owner, root, threadId }]));
    return traces;
  }

  /** Rejects if it is gone, or not whole. */
  async #trace(name: string): Promise<Trace> {
    const path = join(this.#folder, name);
    const { mtimeMs: end } = await stat(path);
    const contents = this.#contents.get(path) ?? (JSON.parse(await readFile(path, "utf8")) as Contents);
    return { ...contents, path, start: Number.parseInt(name, 10), end, runs: name.endsWith(RUNS) };
  }
}

const isSameFiles = (a: string, b: string): boolean => isWithin(a, b) || isWithin(b, a);

/** Whether changes that were made while `running` ran may be those of a command that is over. */
const mayShare = (running: Trace, over: Trace): boolean =>
  running.threadId !== over.threadId &&
  isSameFiles(running.root, over.root) &&
  over.end >= running.start &&
  over.start <= running.end + STOPPED_MS;

const ignored = (): void => undefined;
