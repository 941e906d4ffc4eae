import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, readFile, stat, unlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { cacheFolder, checkPrivate, makePrivate } from "../private-folder.ts";

/** Under which path of the workspace outputs can be read. Nothing is listed there: the name of one is the right to read it. */
export const OUTPUT_PATH = "/.cinch/output";

const OUTPUT = /^[0-9a-f]{32}\.txt$/;
const NOTE = /^[0-9a-f]{32}\.id$/;
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** Where one output goes. */
export interface OutputPlace {
  /** As the file tools know it. */
  path: string;
  /** Makes the file, which must not be there yet. Rejects if that can't be done. */
  open(): Promise<FileHandle>;
}

/** A command of a thread. */
export interface CommandOf {
  threadId: string;
  id: string;
}

/**
 * The folder of this machine in which whole outputs are kept. It outlives the process, because transcripts name what is in it, and is
 * for nobody else. Files go when nothing was added to them for seven days.
 */
export class Outputs {
  readonly directory: string;

  constructor(directory = cacheFolder("output")) {
    this.directory = resolve(directory);
  }

  /** A place under a name that nobody can guess. */
  place(name = `${randomBytes(16).toString("hex")}.txt`): OutputPlace {
    const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
    return {
      path: `${OUTPUT_PATH}/${name}`,
      open: async () => {
        await this.make();
        return open(join(this.directory, name), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
      },
    };
  }

  /** The file behind a path of the workspace, as a path below this folder; `undefined` if no output can have it. */
  nameOf(path: string): string | undefined {
    const name = path.slice(OUTPUT_PATH.length + 1);
    return OUTPUT.test(name) ? name : undefined;
  }

  make(): Promise<void> {
    return makePrivate(this.directory);
  }

  /** Rejects if it is not there, or not ours alone. */
  check(): Promise<void> {
    return checkPrivate(this.directory);
  }

  /** Remembers where the output of a command is, for a process that knows nothing of it. */
  async note(command: CommandOf, { path }: OutputPlace): Promise<void> {
    await writeFile(join(this.directory, noteName(command)), this.nameOf(path) ?? "", { mode: 0o600 });
  }

  /** What was noted; `undefined` if there is no such command, or if it is long gone. */
  async noted(command: CommandOf): Promise<{ path: string; bytes: number } | undefined> {
    try {
      await this.check();
      const name = await readFile(join(this.directory, noteName(command)), "utf8");
      if (!OUTPUT.test(name)) return undefined;
      const { size } = await stat(join(this.directory, name));
      return { path: `${OUTPUT_PATH}/${name}`, bytes: size };
    } catch {
      return undefined;
    }
  }

  /** Removes what is old. What can't be removed stays: that is no reason not to work. */
  async tidy(): Promise<void> {
    const names = await this.check().then(
      () => readdir(this.directory),
      () => [],
    );
    const oldest = Date.now() - KEPT_MS;
    const remove = async (name: string) => {
      const path = join(this.directory, name);
      if ((await lstat(path)).mtimeMs < oldest) await unlink(path);
    };
    await Promise.allSettled(names.filter((name) => OUTPUT.test(name) || NOTE.test(name)).map(remove));
  }
}

const noteName = ({ threadId, id }: CommandOf): string =>
  `${createHash("sha256")
    .update(JSON.stringify([threadId, id]))
    .digest("hex")
    .slice(0, 32)}.id`;
