import type { Reach, Stat } from "../../backend.ts";
import { yieldIfDue } from "../../contents/pace.ts";
import { FileError } from "../../file-error.ts";
import { isWithin, joinPath, nameOf, parentOf, shown } from "../../paths.ts";
import type { FileToolDeps } from "../file-tool-deps.ts";
import { similarityTo } from "./similarity.ts";

const SIMILAR = 0.5;
const SUGGESTIONS = 3;

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

/** The error for a path at which nothing exists. It suggests similar names in the nearest directory above that exists. */
async function missingError({ backend, rules }: FileToolDeps, path: string, reach: Reach): Promise<FileError> {
  let folder = parentOf(path);
  while (folder !== "/" && (rules.hides(folder) || (await backend.stat(folder, reach))?.type !== "directory"))
    folder = parentOf(folder);
  const [name = ""] = path.slice(folder === "/" ? 1 : folder.length + 1).split("/");
  const similarity = similarityTo(name.toLowerCase());
  let scored: { path: string; score: number }[] = [];
  const best = () => scored.toSorted((a, b) => b.score - a.score).slice(0, SUGGESTIONS);
  for (const { path: one } of await backend.list(folder, reach)) {
    await yieldIfDue();
    if (rules.hides(one) || !isWithin(one, folder)) continue;
    const score = similarity(nameOf(one).toLowerCase());
    if (score >= SIMILAR) scored.push({ path: one, score });
    if (scored.length > 1_000) scored = best();
  }
  const similar = best().map((one) => shown(one.path));
  const first = joinPath(folder, name);
  const above = first === path ? "" : ` There is no directory ${shown(first)} either.`;
  const meant = similar.length > 0 ? ` Did you mean ${similar.join(" or ")}?` : "";
  const next = `Call ls on ${shown(folder)} to see what is there.`;
  return new FileError("not_found", path, `There is no file or directory ${shown(path)}.${above}${meant} ${next}`);
}
