import type { Reach } from "../backend.ts";
import { FileError } from "../file-error.ts";
import type { Place } from "./place.ts";
import { similarity } from "./similar.ts";
import { isWithin, joinPath, nameOf, parentOf, shown } from "../paths.ts";

const ALIKE = 0.5;
const SUGGESTIONS = 3;

/** That nothing is there, with what is there instead. */
export async function missing({ backend, rules }: Place, path: string, reach: Reach): Promise<FileError> {
  let folder = parentOf(path);
  while (folder !== "/" && (rules.hides(folder) || (await backend.stat(folder, reach))?.type !== "directory"))
    folder = parentOf(folder);
  const [name = ""] = path.slice(folder === "/" ? 1 : folder.length + 1).split("/");
  const wanted = name.toLowerCase();
  const listed = await backend.list(folder, reach);
  const alike = listed
    .filter((entry) => !rules.hides(entry.path) && isWithin(entry.path, folder))
    .map((entry) => ({ entry, score: similarity(wanted, nameOf(entry.path).toLowerCase()) }))
    .filter(({ score }) => score >= ALIKE)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, SUGGESTIONS)
    .map(({ entry }) => shown(entry.path));
  const missed = joinPath(folder, name);
  const above = missed === path ? "" : ` There is no directory ${shown(missed)} either.`;
  const meant = alike.length > 0 ? ` Did you mean ${alike.join(" or ")}?` : "";
  const next = `Call ls on ${shown(folder)} to see what is there.`;
  return new FileError("not_found", path, `There is no file or directory ${shown(path)}.${above}${meant} ${next}`);
}
