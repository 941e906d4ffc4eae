import { randomBytes } from "node:crypto";
import { readdir, readFile, rename, rmdir, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isWithin } from "../paths.ts";
import { makePrivate } from "../private-folder.ts";

const HEARTBEAT_MS = 200;
/** A command without a heartbeat for this long may have died; until then it counts as running. */
const SILENT_MS = 5_000;
/** How long a harness may be stopped while its command runs on. */
const STOPPED_MS = 60_000;
/** How long the record of a command that died is kept: its changes may still have to be recorded. */
const KEPT_MS = 60 * 60 * 1_000;
const RUNNING = ".run";
const ENDED = ".ran";

/** A command, as every harness of this user sees it. */
interface CommandRecord {
  path: string;
  owner: string;
  root: string;
  threadId: string;
  start: number;
  /** When it ended; while it runs, its last heartbeat. */
  end: number;
  runs: boolean;
}

/**
 * Which commands run on which folders, in all processes of this user: one small file per command. It stays while a command of another
 * thread on the same files runs that overlaps with it. A record that can't be written or read is ignored: no command fails because of it.
 */
export class CommandRecords {
  readonly #folder: string;
  readonly #root: string | undefined;
  /** Tells the commands of this workspace from those of others. */
  readonly #owner = randomBytes(9).toString("base64url");

  /** `root`: the real folder that commands work on. Without one nothing is recorded: no other workspace can have the same files. */
  constructor(folder: string, root: string | undefined) {
    this.#folder = folder;
    this.#root = root;
  }

  /** Records a command that is about to run, until `end` is called. */
  async begin(threadId: string): Promise<{ start: number; end(): Promise<void> }> {
    const start = Date.now();
    if (this.#root === undefined) return { start, end: async () => {} };
    const path = join(this.#folder, `${start}-${randomBytes(9).toString("base64url")}${RUNNING}`);
    const record = JSON.stringify({ owner: this.#owner, root: this.#root, threadId });
    const touch = () => utimes(path, new Date(), new Date()).catch(ignore);
    const write = () => makePrivate(this.#folder).then(() => writeFile(path, record, { mode: 0o600 }));
    // Retried, because another process may remove the empty folder in between.
    await write().catch(write).catch(ignore);
    const timer = setInterval(touch, HEARTBEAT_MS).unref();
    const end = async () => {
      clearInterval(timer);
      await touch();
      await rename(path, path.slice(0, -RUNNING.length) + ENDED).catch(ignore);
      await this.#removeUseless().catch(ignore);
    };
    return { start, end };
  }

  /** Whether a command of another thread ran on this folder in that time. `elsewhere`: counts only those of other workspaces. */
  async overlapped(
    { from, to = Infinity, threadId }: { from: number; to?: number; threadId: string },
    { elsewhere }: { elsewhere: boolean },
  ): Promise<boolean> {
    const root = this.#root;
    if (root === undefined) return false;
    const records = await this.#all().catch(() => []);
    return records.some((one) => {
      const isOther = one.threadId !== threadId && !(elsewhere && one.owner === this.#owner);
      return isOther && isSameFiles(one.root, root) && one.start <= to && one.end + (one.runs ? SILENT_MS : 0) >= from;
    });
  }

  /** A record is of use while another command runs, or died not long ago, whose changes may be those of the recorded one. */
  async #removeUseless(): Promise<void> {
    const records = await this.#all();
    const now = Date.now();
    const running = records.filter(({ runs, end }) => runs && now - end <= KEPT_MS);
    const isOfUse = (one: CommandRecord) =>
      one.runs ? running.includes(one) : running.some((other) => mayShare(other, one));
    const useless = records.filter((one) => !isOfUse(one));
    await Promise.all(useless.map(({ path }) => unlink(path).catch(ignore)));
    // Fails while the folder is not empty.
    await rmdir(this.#folder);
  }

  async #all(): Promise<CommandRecord[]> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith(RUNNING) || name.endsWith(ENDED));
    const records = await Promise.all(names.map((name) => readRecord(join(this.#folder, name), name).catch(() => [])));
    return records.flat();
  }
}

/** Rejects if it is gone or incomplete. */
async function readRecord(path: string, name: string): Promise<CommandRecord> {
  const { mtimeMs: end } = await stat(path);
  const contents = JSON.parse(await readFile(path, "utf8")) as Pick<CommandRecord, "owner" | "root" | "threadId">;
  return { ...contents, path, start: Number.parseInt(name, 10), end, runs: name.endsWith(RUNNING) };
}

const isSameFiles = (a: string, b: string): boolean => isWithin(a, b) || isWithin(b, a);

/** Whether changes that were made while `running` ran may be those of a command that has ended. */
const mayShare = (running: CommandRecord, ended: CommandRecord): boolean =>
  running.threadId !== ended.threadId &&
  isSameFiles(running.root, ended.root) &&
  ended.end >= running.start &&
  ended.start <= running.end + STOPPED_MS;

const ignore = (): void => undefined;
