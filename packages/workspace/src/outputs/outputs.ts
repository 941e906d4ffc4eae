import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, readFile, stat, unlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { cacheFolder, checkPrivate, makePrivate } from "../private-folder.ts";

/** The path of the workspace below which outputs can be read. They are not listed: the name of an output gives access to it. */
export const OUTPUT_PATH = "/.cinch/output";

export const isOutputName = (name: string): boolean => /^[0-9a-f]{32}\.txt$/.test(name);
const NOTE = /^[0-9a-f]{32}\.id$/;
const LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;

/** The file for one output. */
export interface OutputFile {
  /** For file tools. */
  path: string;
  /** Creates the file. Rejects if it exists already, or can't be created. */
  open(): Promise<FileHandle>;
}

/** Identifies a command of a thread. */
export interface CommandKey {
  threadId: string;
  id: string;
}

/** The private folder for whole outputs. Transcripts refer to them, so they outlive the process, for seven days. */
export class Outputs {
  readonly directory: string;

  constructor(directory = cacheFolder("output")) {
    this.directory = resolve(directory);
  }

  /** By default under an unguessable name. */
  newFile(name = `${randomBytes(16).toString("hex")}.txt`): OutputFile {
    const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
    return {
      path: `${OUTPUT_PATH}/${name}`,
      open: async () => {
        await makePrivate(this.directory);
        return open(join(this.directory, name), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
      },
    };
  }

  /** Rejects if the folder does not exist, or if other users can write to it. */
  check(): Promise<void> {
    return checkPrivate(this.directory);
  }

  /** Notes which file has the output of a command, for later processes. */
  async note(command: CommandKey, { path }: OutputFile): Promise<void> {
    await writeFile(join(this.directory, noteName(command)), path.slice(OUTPUT_PATH.length + 1), { mode: 0o600 });
  }

  /** The output of a command of an earlier process; `undefined` if the command is unknown, or its output was deleted. */
  async noted(command: CommandKey): Promise<{ path: string; bytes: number } | undefined> {
    try {
      await this.check();
      const name = await readFile(join(this.directory, noteName(command)), "utf8");
      if (!isOutputName(name)) return undefined;
      const { size } = await stat(join(this.directory, name));
      return { path: `${OUTPUT_PATH}/${name}`, bytes: size };
    } catch {
      return undefined;
    }
  }

  /** Deletes old files, as far as that is possible. */
  async tidy(): Promise<void> {
    const names = await this.check().then(
      () => readdir(this.directory),
      () => [],
    );
    const oldest = Date.now() - LIFETIME_MS;
    const remove = async (name: string) => {
      const path = join(this.directory, name);
      if ((await lstat(path)).mtimeMs < oldest) await unlink(path);
    };
    await Promise.allSettled(names.filter((name) => isOutputName(name) || NOTE.test(name)).map(remove));
  }
}

function noteName({ threadId, id }: CommandKey): string {
  const hash = createHash("sha256").update(JSON.stringify([threadId, id]));
  return `${hash.digest("hex").slice(0, 32)}.id`;
}
