import {
  closeSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { messageOf } from "../error-message.ts";
import { PRIVATE_FILE, projectFolder, realPathOrSame } from "../composer/private-file.ts";
import type { Env } from "../models/providers.ts";
import { RecordFile } from "./record-file.ts";
import { userFolders } from "./user-folders.ts";

const OWN_FOLDER = ".cinch";
const NAME = "cinch.db";

const IGNORED = `# Written by cinch. Threads stay on this machine; config.json, agents and skills can be committed.
/${NAME}*
/.gitignore
`;

interface DatabaseOf {
  folder: string;
  env: Env;
}

interface DatabaseChoice {
  path: string;
  /** It is `.cinch/cinch.db` of the folder. */
  isOwn: boolean;
  /** What the user must know. */
  note: string | null;
}

/**
 * The file of the threads: the one that the flag names, else `.cinch/cinch.db` of the folder. A database that was not made here may hold
 * grants for its threads. Unless the folder is trusted, another one in the user's state folder takes its place.
 */
export function databaseOf(options: DatabaseOf & { trusted: boolean; flag?: string | undefined }): DatabaseChoice {
  const { env, trusted, flag } = options;
  const folder = realPathOrSame(options.folder);
  if (flag !== undefined) return { path: resolve(folder, flag), isOwn: false, note: null };
  const own = join(folder, OWN_FOLDER, NAME);
  if (trusted || !hasForeignDatabase({ folder, env })) return { path: own, isOwn: true, note: null };
  const path = join(projectFolder(userFolders(env).state, folder), NAME);
  const note = `${own} is not used, because it came with a folder that is not trusted. Threads are in ${path}`;
  return { path, isOwn: false, note };
}

/** Whether there is a `.cinch/cinch.db` that was not made here, or something that takes its place. */
export function hasForeignDatabase({ folder: given, env }: DatabaseOf): boolean {
  const folder = realPathOrSame(given);
  const cinch = lstatSync(join(folder, OWN_FOLDER), { throwIfNoEntry: false });
  if (!cinch) return false;
  if (!cinch.isDirectory()) return true;
  if (!readdirSync(join(folder, OWN_FOLDER)).some((name) => name.toLowerCase().startsWith(NAME))) return false;
  const file = lstatSync(join(folder, OWN_FOLDER, NAME), { throwIfNoEntry: false });
  if (!file?.isFile()) return true;
  const { ino, birthtimeMs } = file;
  const isThis = (record: unknown) => {
    const known = (record ?? {}) as Partial<DatabaseRecord>;
    return known.folder === folder && known.ino === ino && known.birthtimeMs === birthtimeMs;
  };
  return !databases(env).read().some(isThis);
}

/**
 * Makes an empty `.cinch/cinch.db` if there is none, and remembers that it was made here. Returns what the user must know if that fails:
 * the store then makes the file itself, or says why it can't. Throws if the disk is full.
 */
export function makeDatabase({ folder: given, env }: DatabaseOf): string | null {
  const folder = realPathOrSame(given);
  const cinch = join(folder, OWN_FOLDER);
  const file = join(cinch, NAME);
  try {
    mkdirSync(cinch, { recursive: true, mode: 0o700 });
    attempt("EEXIST", () => writeNew(join(cinch, ".gitignore"), IGNORED));
    if (!lstatSync(file, { throwIfNoEntry: false })) makeKnownFile(file, { folder, env });
    return null;
  } catch (error) {
    // A file that the store makes would be that of a stranger when there is space again.
    if (["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? ""))
      throw new Error(
        `No disk space is left for ${cinch}, or for ${userFolders(env).state}. Free some, and start again.`,
        { cause: error },
      );
    return `The next start will ask whether to trust ${file}: ${messageOf(error)}`;
  }
}

/** A full disk leaves none with a part of the text, which the next start would take for the whole. */
function writeNew(file: string, text: string): void {
  const descriptor = openSync(file, "wx");
  try {
    writeFileSync(descriptor, text);
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** The file is remembered before it has its name: another process that starts now finds no database, or one that is known. */
function makeKnownFile(file: string, { folder, env }: DatabaseOf): void {
  const temporary = join(dirname(file), `.${NAME}-${crypto.randomUUID()}`);
  const descriptor = openSync(temporary, "wx", PRIVATE_FILE);
  try {
    const { ino, birthtimeMs } = fstatSync(descriptor);
    databases(env).add({ folder, ino, birthtimeMs } satisfies DatabaseRecord);
    attempt("EEXIST", () => linkOrRename(temporary, file));
  } finally {
    closeSync(descriptor);
    rmSync(temporary, { force: true });
  }
}

/** By this, a file that takes the place of the database is another one. */
interface DatabaseRecord {
  folder: string;
  ino: number;
  birthtimeMs: number;
}

const databases = (env: Env): RecordFile => new RecordFile(join(userFolders(env).state, "databases.jsonl"));

/** Some file systems have no hard links. */
function linkOrRename(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw error;
    renameSync(from, to);
  }
}

function attempt(expected: string, action: () => void): void {
  try {
    action();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== expected) throw error;
  }
}
