import { checkKeys, CinchError, type ContextSource, type SourceReach } from "@cinch/core";
import { FileCache, inGroups, type Place } from "./sources/file-cache.ts";
import { HostFolder, hostReader } from "./sources/host-folder.ts";
import { hashed, KnownLists, type ListChange } from "./sources/known-lists.ts";

export interface AgentsMdOptions {
  /** Files of the workspace, or folders of the machine with an AGENTS.md in them. They are read also if the workspace is not trusted. */
  files?: readonly (string | HostFolder)[];
}

const FILE = "AGENTS.md";
/** Of one file, and of all of them together, in characters. */
const FILE_CHARS = 20_000;
const ALL_CHARS = 60_000;
/** In how many folders the agent may work for each to be looked at. */
const MAX_FOLDERS = 200;

const INTRODUCTION =
  "These are standing instructions of the user and the project. Where two contradict each other, the later one counts.";

interface Instructions {
  path: string;
  text: string;
  /** Of the whole file, in bytes. */
  size: number;
}

interface Known extends Instructions {
  /** Why the text is not that of the file. */
  problem: string | null;
  /** It could never be read, so its text is not known. */
  isUnknown?: true;
}

/**
 * The user's AGENTS.md, if it is listed, that of the project, and those of the folders in which the agent works, the nearest last. What is
 * not listed is read in a trusted workspace only.
 */
export function agentsMd(options: AgentsMdOptions = {}): ContextSource {
  checkKeys("agentsMd", options, ["files"]);
  const { files: given = [] } = options;
  if (!Array.isArray(given))
    throw new CinchError("INVALID_CONFIG", 'agentsMd: files must be a list, such as ["/docs/AGENTS.md"].');
  const listed = given.map(checkedFile);
  const cache = new FileCache<Known>({ parse: knownOf, failed: unreadable, maxBytes: FILE_CHARS * 4 });
  const lists = new KnownLists();
  return {
    name: FILE,
    followsPaths: true,
    async read(reach) {
      const { files: places, unread } = placesOf(listed, reach);
      const found = (await inGroups(places, (place) => cache.get(place))).filter((file) => file !== null);
      const problems = [...unread, ...found.flatMap(({ problem }) => problem ?? [])];
      const files = withinLimit(found.filter(({ text }) => text !== ""));
      const items = new Map(files.map(({ path, text, size }) => [path, hashed(`${size} ${text}`)]));
      const change = lists.change(reach.known, items);
      const version = lists.add(items, items.keys());
      // What can't be read now is not gone: the text in the prompt stands.
      const missed = found.filter(({ isUnknown, path }) => isUnknown && lists.mayHave(reach.known, path));
      if (missed.length > 0) throw new CinchError("INVALID_INPUT", missed.map(({ problem }) => problem).join("\n"));
      if (files.length === 0) return { text: "", problems };
      return {
        text: [INTRODUCTION, ...files.map(elementOf)].join("\n\n"),
        version,
        ...(change ? { change: changeText(change, files) } : {}),
        problems,
      };
    },
  };
}

// To some providers a zero byte in a prompt is an error.
const knownOf = (path: string, { text, size }: { text: string; size: number }): Known =>
  text.includes("\0")
    ? { path, text: "", size, problem: `${path}: It is not text, and is not used. Save it as UTF-8.` }
    : { path, text: text.trim(), size, problem: null };

/** The text stays as it was. */
const unreadable = (path: string, reason: string, known: Known | null): Known => ({
  ...(known ?? { path, text: "", size: 0, isUnknown: true }),
  problem: `${path}: It can't be read: ${reason}`,
});

function placesOf(listed: readonly (string | HostFolder)[], { files, isTrusted, paths, resourceId }: SourceReach) {
  const unread: string[] = [];
  const inWorkspace = (path: string): Place[] => (files ? [{ reader: files, path, scope: resourceId }] : []);
  const named = listed.flatMap((one): Place[] => {
    if (one instanceof HostFolder) return [{ reader: hostReader, path: `${one.path}/${FILE}`, scope: "" }];
    if (!files) unread.push(`${one}: this harness has no workspace to read it from.`);
    return inWorkspace(one);
  });
  const isNamed = (path: string) => named.some((one) => one.reader === files && one.path === path);
  const discovered = isTrusted ? foldersOf(paths).map((folder) => `${folder}/${FILE}`) : [];
  return { files: [...named, ...discovered.filter((path) => !isNamed(path)).flatMap(inWorkspace)], unread };
}

/** The root and every folder above these files, the root first. */
function foldersOf(paths: readonly string[]): string[] {
  const folders = new Set([""]);
  for (const path of paths)
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1))
      folders.add(path.slice(0, end));
  const depth = (folder: string) => folder.split("/").length;
  return [...folders].toSorted((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1)).slice(0, MAX_FOLDERS);
}

/** Cuts long files, and leaves out those that are farthest away, each with a sentence. */
function withinLimit(files: readonly Instructions[]): Instructions[] {
  let room = ALL_CHARS;
  return files
    .toReversed()
    .map((file): Instructions => {
      const text = cut(file);
      room -= text.length;
      return {
        ...file,
        text: room >= 0 ? text : `(Left out, because there are too many instructions: ${file.size} bytes.)`,
      };
    })
    .toReversed();
}

function cut({ text, path, size }: Instructions): string {
  if (text.length <= FILE_CHARS) return text;
  return `${text.slice(0, FILE_CHARS).toWellFormed()}\n(Only the first ${FILE_CHARS} characters of ${path} are here: it has ${size} bytes.)`;
}

const elementOf = ({ path, text }: Instructions): string => `<instructions path="${path}">\n${text}\n</instructions>`;

function changeText({ added, changed, removed }: ListChange, files: readonly Instructions[]): string {
  const now = files.filter(({ path }) => added.includes(path) || changed.includes(path)).map(elementOf);
  return [...now, ...removed.map((path) => `${path} is gone. What it said is no longer in force.`)].join("\n\n");
}

function checkedFile(file: string | HostFolder): string | HostFolder {
  if (file instanceof HostFolder) return file;
  if (typeof file === "string" && /^\/(?!.*(?:^|\/)\.\.?(?:\/|$)).*[^/]$/.test(file)) return file;
  throw new CinchError(
    "INVALID_CONFIG",
    `agentsMd: ${JSON.stringify(file)} is not a file of the workspace, such as "/docs/AGENTS.md". For a folder of the machine, use hostFolder().`,
  );
}
