import type { Reach, Stat } from "../../backend.ts";
import { FileError } from "../../file-error.ts";
import { shown } from "../../paths.ts";
import type { FileToolDeps } from "../file-tool-deps.ts";
import { missingError } from "./missing.ts";

/** The stat of a path. Where nothing exists, or a rule hides it, rejects with an error that names the next call. */
export async function lookup(deps: FileToolDeps, path: string, reach: Reach): Promise<Stat> {
  const stat = deps.rules.hides(path) ? null : await deps.backend.stat(path, reach);
  if (!stat) throw await missingError(deps, path, reach);
  return stat;
}

export async function lookupFile(deps: FileToolDeps, path: string, reach: Reach): Promise<Stat> {
  const stat = await lookup(deps, path, reach);
  if (stat.type === "directory") throw isADirectory(path);
  return stat;
}

export async function lookupDirectory(deps: FileToolDeps, path: string, reach: Reach): Promise<void> {
  if ((await lookup(deps, path, reach)).type === "directory") return;
  const message = `${shown(path)} is a file, not a directory. Call read_file to see its contents.`;
  throw new FileError("not_a_directory", path, message);
}

export const isADirectory = (path: string): FileError =>
  new FileError(
    "is_a_directory",
    path,
    `${shown(path)} is a directory, not a file. Call ls on it to see what is in it.`,
  );
