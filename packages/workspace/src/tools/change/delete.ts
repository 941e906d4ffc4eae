import { defineTool, type ToolContext } from "@cinch/core";
import * as z from "zod";
import type { DeleteOptions, Entry, Stat } from "../../backend.ts";
import { sightAt } from "../../bulk.ts";
import { FileError } from "../../file-error.ts";
import { Pace } from "../../pace.ts";
import { realOf, record, recordUnchanged, type Recorded } from "./change.ts";
import { saveContents, MAX_SAVED_BYTES, withMode, type SavedContents } from "./saved-contents.ts";
import { lookup } from "../lookup/lookup.ts";
import { plural } from "../list/listing.ts";
import { judged } from "../../path-rules/judged.ts";
import { PathNames } from "../../path-rules/path-names.ts";
import { writePolicy } from "../../path-rules/file-rules.ts";
import { looksLikeFile, removalFit, suggestForFile } from "../../path-rules/pattern-fit.ts";
import { readContents, pathInput, reachOf, TIMEOUT_MS, type FileToolDeps } from "../file-tool-deps.ts";
import { joinPath, joinPaths, nameOf, parentOf, relativeTo, shown } from "../../paths.ts";
import { LINK } from "../../undo/picture.ts";

/** How many files a directory may hold to be deleted as a whole. */
const MAX_FILES = 2_000;
/** What is held in memory of a directory at a time, before the journal has it. */
const BATCH_BYTES = 16 * 1024 * 1024;
const BATCH_FILES = 200;

const LOST = `links, and what is over ${MAX_SAVED_BYTES} bytes, are not kept`;

/**
 * Whether the arguments alone tell that only a file can be meant. Rules and people judge a call by its arguments: what was judged as a
 * file must not turn out to be a directory.
 */
const meansFile = (input: string, path: string): boolean => !input.endsWith("/") && looksLikeFile(path);

/** Deletes a file, or a directory with everything in it; of a link the link. */
export const deleteTool = (deps: FileToolDeps) =>
  defineTool({
    description: `Delete a file, or a directory with everything in it (up to ${MAX_FILES} files).`,
    category: "edit",
    effect: "once",
    timeoutMs: TIMEOUT_MS,
    input: z.object({ file_path: pathInput(deps, "The file or directory.") }),
    ...judged<{ file_path: string }>({
      names: ({ file_path }, context) => PathNames.ofEntry(deps.backend, deps.path(file_path), context),
      fit: (pattern, path, { file_path }) => removalFit(pattern, path, { isFile: meansFile(file_path, path) }),
      suggest: suggestForFile,
      policy: (path) => writePolicy(deps.rules, path),
    }),
    execute({ file_path }, context) {
      const path = deps.path(file_path);
      if (path === "/")
        throw new FileError("invalid", path, "The root of the workspace can't be deleted. Name what is in it.");
      return deps.queue.run(path, context.signal, async () => {
        const stat = await entryAt(deps, path, context);
        const isFolder = isDirectory(stat);
        if (isFolder && meansFile(file_path, path)) {
          const tell = `${shown(path)} is a directory, and is named like a file. To delete it with everything in it, call delete with "${shown(path)}/".`;
          throw new FileError("is_a_directory", path, tell);
        }
        const files = isFolder ? await filesIn(deps, stat, context) : [stat];
        await checkRules(deps, files, await PathNames.ofEntry(deps.backend, path, reachOf(context)));
        const { bytes, lost } = await remove(deps, { path, files, options: conditionFor(stat) }, context);
        const what = isFolder ? ` with ${plural(files.length, "file")}` : "";
        const warning = lost > 0 ? ` ${isFolder ? `${lost} of them` : "It"} can't be restored: ${LOST}.` : "";
        const content = `Deleted ${shown(path)}${what} (${plural(bytes, "byte")}).${warning}`;
        return { content, details: { path, files: files.length, bytes, lost } };
      });
    },
  });

/** What is deleted: of a link the link, wherever it leads, and whatever may be known of that. */
async function entryAt(deps: FileToolDeps, path: string, context: ToolContext): Promise<Stat> {
  const reach = reachOf(context);
  const { real } = await PathNames.ofEntry(deps.backend, path, reach);
  const isLink = async () => (await sightAt(deps.backend, real, { ...reach, direct: true })).kind === "link";
  if (deps.rules.hides(path) || !(await isLink())) return lookup(deps, path, reach);
  return { path, type: "file", size: 0, modified: 0, target: "", version: LINK };
}

/** Only if it is still what it was judged as. */
function conditionFor(stat: Stat): DeleteOptions {
  if (isDirectory(stat)) return {};
  return stat.target === undefined ? { ifVersion: stat.version } : { ifLink: true };
}

async function filesIn({ backend }: FileToolDeps, { path }: Stat, context: ToolContext): Promise<Entry[]> {
  const reach = reachOf(context);
  const files: Entry[] = [];
  const folders = [path];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    context.signal.throwIfAborted();
    for (const entry of await backend.list(folder, reach)) {
      if (isDirectory(entry)) folders.push(entry.path);
      else files.push(entry);
    }
    if (files.length > MAX_FILES) {
      const tell = `${shown(path)} holds more than ${MAX_FILES} files. Delete the directories in it one by one, or use a command.`;
      throw new FileError("invalid", path, tell);
    }
  }
  return files;
}

/** Whoever was asked about a directory was asked about what is in it. What has a stricter rule of its own has to be named by itself. */
async function checkRules({ rules }: FileToolDeps, files: readonly Entry[], names: PathNames): Promise<void> {
  const path = names.asked;
  const says = (one: PathNames) => one.policy((name) => writePolicy(rules, name));
  const asked = says(names) === "ask";
  const stricter: Entry[] = [];
  const pace = new Pace();
  for (const file of files) {
    const policy = says(names.inside(file.path));
    if (policy === "deny" || (policy === "ask" && !asked)) stricter.push(file);
    await pace.rest();
  }
  if (stricter.length === 0) return;
  const known = stricter.filter((file) => !rules.hides(file.path)).map((file) => shown(file.path));
  const which = known.length > 0 ? `: ${known.slice(0, 5).join(", ")}${known.length > 5 ? ", …" : ""}` : "";
  const tell = `${shown(path)} holds ${plural(stricter.length, "file")} that a rule protects${which}. Nothing was deleted. Delete what you need to one by one.`;
  throw new FileError("denied", path, tell);
}

interface Batch {
  changes: Recorded[];
  blobs: SavedContents["blobs"];
  bytes: number;
}

/** Every file is in the journal, with what it takes to restore it, before the first one goes. */
async function remove(
  deps: FileToolDeps,
  { path, files, options }: { path: string; files: readonly Entry[]; options: DeleteOptions },
  context: ToolContext,
): Promise<{ bytes: number; lost: number }> {
  const recorded: Recorded[] = [];
  const { real: above = parentOf(path) } = await realOf(deps, parentOf(path), context);
  const real = (file: string): string => joinPaths(joinPath(above, nameOf(path)), relativeTo(path, file));
  try {
    for await (const { changes, blobs } of batches(deps, files, { context, real })) {
      await record(
        changes.map(({ change }) => change),
        blobs,
        context,
      );
      recorded.push(...changes);
    }
    await deps.backend.delete(path, reachOf(context), options);
    for (const { change } of recorded) deps.wrote(change.real ?? change.path, null);
  } catch (error) {
    // Where it can't be told what is left, the record stays: it is checked when it is used.
    await recordUnchanged(await stillPresent(deps, recorded, context).catch(() => []), context).catch(() => undefined);
    throw error;
  }
  const bytes = recorded.reduce((sum, { change }) => sum + (change.before?.size ?? 0), 0);
  return { bytes, lost: recorded.filter(({ change }) => !change.before?.parts).length };
}

interface Deleting {
  context: ToolContext;
  /** Where a file lies that a link may have led to. */
  real(path: string): string;
}

async function* batches(
  deps: FileToolDeps,
  files: readonly Entry[],
  { context, real }: Deleting,
): AsyncGenerator<Batch> {
  const pace = new Pace();
  let room = MAX_SAVED_BYTES;
  let batch: Batch = { changes: [], blobs: [], bytes: 0 };
  for (const file of files) {
    await pace.rest();
    const { path, size } = file;
    const whole = size <= room;
    const { version, blobs } = await keptOf(deps, file, { whole }, context);
    if (whole) room -= version.size;
    const seen = context.files.seen(path);
    const lies = real(path) === path ? {} : { real: real(path) };
    batch.changes.push({ change: { path, operation: "delete", before: version, after: null, ...lies }, seen });
    batch.blobs.push(...blobs);
    batch.bytes += version.parts ? version.size : 0;
    if (batch.bytes < BATCH_BYTES && batch.changes.length < BATCH_FILES) continue;
    yield batch;
    batch = { changes: [], blobs: [], bytes: 0 };
  }
  if (batch.changes.length > 0) yield batch;
}

/** A link goes, and what it leads to stays. There are no links in journals, so that none can be restored. */
async function keptOf(
  deps: FileToolDeps,
  { path, target }: Entry,
  how: { whole: boolean },
  context: ToolContext,
): Promise<SavedContents> {
  if (target !== undefined) return { version: { hash: LINK, size: 0 }, blobs: [] };
  const stat = await deps.backend.stat(path, reachOf(context));
  return withMode(await saveContents(readContents(deps, { path }, context), how), stat ?? {});
}

const isDirectory = ({ type, target }: Entry): boolean => type === "directory" && target === undefined;

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
