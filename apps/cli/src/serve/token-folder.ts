import { randomBytes } from "node:crypto";
import { linkSync, readdirSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROLES, tokenHash, type MayRole } from "@cinch/server";
import * as z from "zod/mini";
import { PRIVATE_FILE, projectFolder } from "../composer/private-file.ts";
import { isNothingThere } from "../error-message.ts";
import { UsageError } from "../exit.ts";
import { cinch } from "../invocation.ts";
import type { FolderOfUser } from "../setup/trust.ts";
import { readSmallFile } from "../setup/small-file.ts";
import { changeInState, writeInState } from "../setup/state-folder.ts";
import { userFolders } from "../setup/user-folders.ts";

const PersonToken = z.object({
  name: z.string(),
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  may: z.array(z.enum(ROLES)),
  at: z.number(),
});
/** What a person may do, and the SHA-256 of the token that shows it is this person. */
export type PersonToken = z.infer<typeof PersonToken>;

/** It is the name of a file too. */
const NAME = /^[A-Za-z0-9][\w.@-]{0,63}$/;

/** 256 bits, as a word that fits into a header and an address. Programs that look for leaked secrets know it by its beginning. */
export const randomToken = (): string => `cinch_${randomBytes(32).toString("base64url")}`;

/**
 * The tokens of the people who may reach a project, each in a file of its own: processes that add and revoke tokens at the same time do
 * not overwrite each other's.
 */
export class TokenFolder {
  readonly #folder: string;

  constructor({ folder, env }: FolderOfUser) {
    this.#folder = join(projectFolder(userFolders(env).state, folder), "tokens");
  }

  /** Returns the token, which is stored nowhere. Throws `UsageError` if the person has one. */
  add({ name, may }: { name: string; may: readonly MayRole[] }): string {
    const token = randomToken();
    const file = this.#fileOf(name);
    const entry: PersonToken = { name, sha256: tokenHash(token), may: [...may], at: Date.now() };
    writeInState(this.#folder, () => writeNew(file, entry));
    return token;
  }

  /** Throws `UsageError` if there is no such token. */
  revoke(name: string): void {
    try {
      changeInState(this.#folder, () => unlinkSync(this.#fileOf(name)));
    } catch (error) {
      if (!isNothingThere(error)) throw error;
      throw new UsageError(`There is no token "${name}" for this folder. ${cinch} token list lists them.`);
    }
  }

  /** By name. Throws if a file can't be read. */
  list(): PersonToken[] {
    return this.files().flatMap((file) => this.read(file) ?? []);
  }

  /** `undefined`: the file is gone, or is not a token. Throws if it can't be read. */
  read(file: string): PersonToken | undefined {
    const text = readSmallFile(file) ?? "";
    try {
      return z.safeParse(PersonToken, JSON.parse(text)).data;
    } catch {
      return undefined;
    }
  }

  files(): string[] {
    const names = whereThere(() => readdirSync(this.#folder)) ?? [];
    return names
      .filter((name) => name.endsWith(".json"))
      .toSorted()
      .map((name) => join(this.#folder, name));
  }

  /** When a token was last added or revoked, in milliseconds; 0: never. */
  changedAt(): number {
    return whereThere(() => statSync(this.#folder).mtimeMs) ?? 0;
  }

  #fileOf(name: string): string {
    if (!NAME.test(name))
      throw new UsageError(`"${name}" can't be a name: use up to 64 letters, digits, ".", "_", "-" and "@".`);
    return join(this.#folder, `${name}.json`);
  }
}

/** Throws `UsageError` if the file exists. */
function writeNew(file: string, entry: PersonToken): void {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    rmSync(temporary, { force: true });
    writeFileSync(temporary, `${JSON.stringify(entry)}\n`, { mode: PRIVATE_FILE, flag: "wx" });
    // Unlike a rename, it fails if the file exists.
    linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new UsageError(`${entry.name} has a token already. To replace it: ${cinch} token revoke ${entry.name}`);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function whereThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isNothingThere(error)) return undefined;
    throw error;
  }
}
