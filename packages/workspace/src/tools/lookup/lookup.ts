import type { Reach, Stat } from "../../backend.ts";
import { FileError } from "../../file-error.ts";
import { missing } from "./missing.ts";
import type { Place } from "../file-tool-deps.ts";
import { shown } from "../../paths.ts";

/** What is at a path; an error that names the next call if there is nothing, or nothing that may be seen. */
export async function found(place: Place, path: string, reach: Reach): Promise<Stat> {
  const stat = place.rules.hides(path) ? null : await place.backend.stat(path, reach);
  if (!stat) throw await missing(place, path, reach);
  return stat;
}

export async function foundFile(place: Place, path: string, reach: Reach): Promise<Stat> {
  const stat = await found(place, path, reach);
  if (stat.type === "directory") throw isDirectory(path);
  return stat;
}

export async function foundDirectory(place: Place, path: string, reach: Reach): Promise<Stat> {
  const stat = await found(place, path, reach);
  if (stat.type === "directory") return stat;
  const tell = `${shown(path)} is a file, not a directory. Call read_file to see what it holds.`;
  throw new FileError("not_a_directory", path, tell);
}

export const isDirectory = (path: string): FileError =>
  new FileError(
    "is_a_directory",
    path,
    `${shown(path)} is a directory, not a file. Call ls on it to see what is in it.`,
  );
