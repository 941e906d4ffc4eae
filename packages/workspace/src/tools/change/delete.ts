import { defineTool, type ToolContext } from "@cinch/core";
import type { FileChange } from "@cinch/core/workspace";
import * as z from "zod";
import type { DeleteOptions, Entry, Stat } from "../../backend.ts";
import { entriesInside, isDirectory, sightAt } from "../../backends/bulk.ts";
import { inBatches } from "../../contents/batches.ts";
import { FileError } from "../../file-error.ts";
import { yieldIfDue } from "../../contents/pace.ts";
import { looksLikeFile, PathNames, policyInside, removalFit, suggestForFile } from "../../path-rules/index.ts";
import { writePolicy } from "../../path-rules/index.ts";
import { judged } from "../judged.ts";
import { isUsableName, joinPath, joinPaths, nameOf, namesOf, parentOf, relativeTo, shown } from "../../paths.ts";
import { LINK } from "../../undo/snapshot.ts";
import { CHANGES, pathInput, reachOf, readContents, type FileToolDeps } from "../file-tool-deps.ts";
import { plural } from "../list/listing.ts";
import { lookup } from "../lookup/lookup.ts";
import { realOf, record, recordUnchanged, type Recorded } from "./change.ts";
import { MAX_SAVED_BYTES, saveContents, withMode, type SavedContents } from "../../contents/saved-contents.ts";

/** How many files a directory may hold to be deleted by one call. */
const MAX_FILES = 2_000;

const LOST = `links, and what is over ${MAX_SAVED_BYTES} bytes, are not kept`;

/** Whether the arguments mean a file. Rules and people judge these, and a call that was judged so must not delete a directory. */
const meansFile = (input: string, path: string): boolean => !input.endsWith("/") && looksLikeFile(path);

/** Deletes a file, or a directory with everything in it. Of a link, it deletes the link. */
export const deleteTool = (deps: FileToolDeps) =>
  defineTool({
    description: `Delete a file, or a directory with everything in it (up to ${MAX_FILES} files).`,
    ...CHANGES,
    input: z.object({ file_path: pathInput(deps, "The file or directory.") }),
    ...judged<{ file_path: string }>({
      names: ({ file_path }, context) => PathNames.ofEntry(deps.backend, deps.path(file_path), context),
      fit: (pattern, path, { file_path }) => removalFit(pattern, path, { isFile: meansFile(file_path, path) }),
      suggest: suggestForFile,
      policy: writePolicy,
      deps,
    }),
    execute({ file_path }, context) {
      const path = deps.path(file_path);
      if (path === "/")
        throw new FileError("invalid", path, "The root of the workspace can't be deleted. Name what is in it.");
      return deps.queue.run(path, context.signal, async () => {
        const names = await PathNames.ofEntry(deps.backend, path, reachOf(context));
        const stat = await entryAt(deps, names, context);
        const isFolder = isDirectory(stat);
        if (isFolder && meansFile(file_path, path)) {
          const message = `${shown(path)} is a directory, and is named like a file. To delete it with everything in it, call delete with "${shown(path)}/".`;
          throw new FileError("is_a_directory", path, message);
        }
        const files = isFolder ? await filesIn(deps, stat, context) : [stat];
        await checkRules(deps, files, names);
        if (isFolder) await checkNames(deps, stat, files, context);
        const { bytes, lost } = await remove(deps, { path, files, options: conditionFor(stat) }, context);
        const what = isFolder ? ` with ${plural(files.length, "file")}` : "";
        const warning = lost > 0 ? ` ${isFolder ? `${lost} of them` : "It"} can't be restored: ${LOST}.` : "";
        const content = `Deleted ${shown(path)}${what} (${plural(bytes, "byte")}).${warning}`;
        return { content, details: { path, files: files.length, bytes, lost } };
      });
    },
  });

/** A link is not followed: neither its target nor the rules for that matter. */
async function entryAt(deps: FileToolDeps, { asked: path, real }: PathNames, context: ToolContext): Promise<Stat> {
  const reach = reachOf(context);
  const isLink = async () => (await sightAt(deps.backend, real, { ...reach, direct: true })).kind === "link";
  if (deps.rules.hides(path) || !(await isLink())) return lookup(deps, path, reach);
  return { path, type: "file", size: 0, modified: 0, target: "", version: LINK };
}

/** Deletes the entry only if it is still the one that was judged. */
function conditionFor(stat: Stat): DeleteOptions {
  if (isDirectory(stat)) return {};
  return stat.target === undefined ? { ifVersion: stat.version } : { ifLink: true };
}

async function filesIn({ backend }: FileToolDeps, { path }: Stat, context: ToolContext): Promise<Entry[]> {
  const files: Entry[] = [];
  for await (const entry of entriesInside(backend, path, reachOf(context))) {
    context.signal.throwIfAborted();
    if (!isDirectory(entry)) files.push(entry);
    if (files.length <= MAX_FILES) continue;
    const message = `${shown(path)} holds more than ${MAX_FILES} files. Delete the directories in it one by one, or use a command.`;
    throw new FileError("invalid", path, message);
  }
  return files;
}

/** Listings omit a name that no path can have. Its file could be neither judged nor restored. */
async function checkNames(
  { backend, rules }: FileToolDeps,
  { path }: Stat,
  files: readonly Entry[],
  context: ToolContext,
) {
  const listed = new Set(files.map((file) => file.path));
  for await (const inside of backend.inside?.(path, reachOf(context)) ?? []) {
    context.signal.throwIfAborted();
    // Bytes that are not UTF-8 come as U+FFFD.
    if (listed.has(inside) || (!inside.includes("\ufffd") && namesOf(inside).every(isUsableName))) continue;
    const where = shown(rules.hides(inside) ? path : parentOf(inside));
    const message = `${where} holds a name that no path can have. Its file could not be restored, so nothing was deleted. Delete or rename it first, with a command.`;
    throw new FileError("invalid", path, message);
  }
}

async function checkRules({ rules }: FileToolDeps, files: readonly Entry[], names: PathNames): Promise<void> {
  const path = names.asked;
  const inside = policyInside(rules, "write", names);
  const stricter: Entry[] = [];
  for (const file of files) {
    if (inside(file.path)) stricter.push(file);
    await yieldIfDue();
  }
  if (stricter.length === 0) return;
  const known = stricter.filter((file) => !rules.hides(file.path)).map((file) => shown(file.path));
  const which = known.length > 0 ? `: ${known.slice(0, 5).join(", ")}${known.length > 5 ? ", …" : ""}` : "";
  const message = `${shown(path)} holds ${plural(stricter.length, "file")} that a rule protects${which}. Nothing was deleted. Delete what you need to one by one.`;
  throw new FileError("denied", path, message);
}

/** Every file is in the journal, with the contents to restore it, before the first one is deleted. */
async function remove(
  deps: FileToolDeps,
  { path, files, options }: { path: string; files: readonly Entry[]; options: DeleteOptions },
  context: ToolContext,
): Promise<{ bytes: number; lost: number }> {
  const recorded: Recorded[] = [];
  const { real: above = parentOf(path) } = await realOf(deps, parentOf(path), context);
  const real = (file: string): string => joinPaths(joinPath(above, nameOf(path)), relativeTo(path, file));
  try {
    const saved = inBatches(deletions(deps, files, { context, real }), ({ bytes }) => bytes);
    for await (const batch of saved) {
      const changes = batch.map(({ change }) => change);
      const blobs = batch.flatMap((one) => one.blobs);
      await record(changes, blobs, context);
      recorded.push(...batch);
    }
    await deps.backend.delete(path, reachOf(context), options);
    for (const { change } of recorded) deps.wrote(change.real ?? change.path, null);
  } catch (error) {
    // If it is unknown which files are left, the record stays: a revert checks them anyway.
    await recordUnchanged(await stillPresent(deps, recorded, context).catch(() => []), context).catch(() => undefined);
    throw error;
  }
  const bytes = recorded.reduce((sum, { change }) => sum + (change.before?.size ?? 0), 0);
  return { bytes, lost: recorded.filter(({ change }) => !change.before?.parts).length };
}

async function* deletions(
  deps: FileToolDeps,
  files: readonly Entry[],
  { context, real }: { context: ToolContext; real: (path: string) => string },
) {
  let room = MAX_SAVED_BYTES;
  for (const file of files) {
    await yieldIfDue();
    const { path, size } = file;
    const whole = size <= room;
    const { version, blobs } = await savedOf(deps, file, { whole, context });
    if (whole) room -= version.size;
    const seen = context.files.seen(path);
    const elsewhere = real(path) === path ? {} : { real: real(path) };
    const change: FileChange = { path, operation: "delete", before: version, after: null, ...elsewhere };
    yield { change, seen, blobs, bytes: version.parts ? version.size : 0 };
  }
}

/** Journals hold no links, so a deleted link can't be restored. */
async function savedOf(
  deps: FileToolDeps,
  { path, target }: Entry,
  { whole, context }: { whole: boolean; context: ToolContext },
): Promise<SavedContents> {
  if (target !== undefined) return { version: { hash: LINK, size: 0 }, blobs: [] };
  const stat = await deps.backend.stat(path, reachOf(context));
  return withMode(await saveContents(readContents(deps, { path }, context), { whole }), stat ?? {});
}

async function stillPresent(
  deps: FileToolDeps,
  changes: readonly Recorded[],
  context: ToolContext,
): Promise<Recorded[]> {
  const reach = { ...reachOf(context), signal: undefined };
  const left: Recorded[] = [];
  for (const one of changes) if (await deps.backend.stat(one.change.path, reach)) left.push(one);
  return left;
}
