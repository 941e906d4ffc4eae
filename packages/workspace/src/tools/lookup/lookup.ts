import type { Reach, Stat } from "../../backend.ts";
import { FileError } from "../../file-error.ts";
import { missingError } from "./missing.ts";
import type { FileToolDeps } from "../file-tool-deps.ts";
import { shown } from "../../paths.ts";

/** What is at a path; an error that names the next call if there is nothing, or nothing that may be seen. */
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

export async function lookupDirectory(deps: FileToolDeps, path: string, reach: Reach): Promise<Stat> {
  const stat = await lookup(deps, path, reach);
  if (stat.type === "directory") return stat;
  const tell = `${shown(path)} is a file, not a directory. Call read_file to see what it holds.`;
  throw new FileError("not_a_directory", path, tell);
}

export const isADirectory = (path: string): FileError =>
  new FileError(
    "is_a_directory",
    path,
    `${shown(path)} is a directory, not a file. Call ls on it to see what is in it.`,
  );
