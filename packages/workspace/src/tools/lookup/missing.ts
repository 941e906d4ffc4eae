import type { Reach } from "../../backend.ts";
import { FileError } from "../../file-error.ts";
import type { FileToolDeps } from "../file-tool-deps.ts";
import { Pace } from "../../pace.ts";
import { Similarity } from "./similarity.ts";
import { isWithin, joinPath, nameOf, parentOf, shown } from "../../paths.ts";

const ALIKE = 0.5;
const SUGGESTIONS = 3;

/** That nothing is there, with what is there instead. */
export async function missingError({ backend, rules }: FileToolDeps, path: string, reach: Reach): Promise<FileError> {
  let folder = parentOf(path);
  while (folder !== "/" && (rules.hides(folder) || (await backend.stat(folder, reach))?.type !== "directory"))
    folder = parentOf(folder);
  const [name = ""] = path.slice(folder === "/" ? 1 : folder.length + 1).split("/");
  const similarity = new Similarity(name.toLowerCase());
  const pace = new Pace();
  let scored: { path: string; score: number }[] = [];
  const best = () => scored.toSorted((a, b) => b.score - a.score).slice(0, SUGGESTIONS);
  for (const { path: one } of await backend.list(folder, reach)) {
    await pace.rest();
    if (rules.hides(one) || !isWithin(one, folder)) continue;
    const score = similarity.of(nameOf(one).toLowerCase());
    if (score >= ALIKE) scored.push({ path: one, score });
    // Only the best are told, however many there are.
    if (scored.length > 1_000) scored = best();
  }
  const alike = best().map((one) => shown(one.path));
  const missed = joinPath(folder, name);
  const above = missed === path ? "" : ` There is no directory ${shown(missed)} either.`;
  const meant = alike.length > 0 ? ` Did you mean ${alike.join(" or ")}?` : "";
  const next = `Call ls on ${shown(folder)} to see what is there.`;
  return new FileError("not_found", path, `There is no file or directory ${shown(path)}.${above}${meant} ${next}`);
}
