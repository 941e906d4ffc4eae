import type { WorkspaceReader } from "@cinch/core";
import { FileCache, inGroups, shortReason } from "../sources/file-cache.ts";
import { HostFolder, hostReader } from "../sources/host-folder.ts";
import { hashed } from "../sources/known-lists.ts";
import { parseSkill, type ParsedSkill, type AgentSkill } from "./skill-file.ts";

/** Where skills are: a folder of the workspace, or one of the machine. */
export type SkillSource = string | HostFolder;

/** A skill without its instructions, which are read when it is loaded. */
export interface ListedSkill extends Omit<AgentSkill, "instructions"> {
  /** Of its SKILL.md. */
  path: string;
  /** Of the whole file. */
  hash: string;
}

/** A skill in the folder of its source. */
interface FoundSkill extends ListedSkill {
  source: Folder;
}

export interface SkillList {
  /** By name. */
  skills: ReadonlyMap<string, FoundSkill>;
  /** Each begins with file and line. */
  problems: readonly string[];
  /** Why the folders of some sources could not be listed. */
  unlisted: readonly string[];
  /** The files that could never be read, so what they list is not known. */
  unknown: readonly { path: string; problem: string }[];
}

/** The reader of the workspace for one thread, and whether the workspace is trusted. */
export interface SkillReach {
  files: WorkspaceReader | undefined;
  isTrusted: boolean;
  resourceId: string;
}

/** Where skills are looked for in a trusted workspace if the caller lists no folders. */
const DISCOVERED = ["/.agents/skills", "/.cinch/skills"];
const FILE = "SKILL.md";
/** Of one SKILL.md. The standard recommends far less. */
const MAX_SKILL_BYTES = 256 * 1024;
const MAX_SKILLS = 1_000;
/** How many problems of one file are reported: others have problems too. */
const MAX_PROBLEMS = 10;

interface Folder {
  reader: WorkspaceReader;
  path: string;
  /** Whose files the reader sees. */
  scope: string;
  isHost: boolean;
}

interface Known {
  listed: ListedSkill | null;
  problems: string[];
  /** Its path, if it could never be read. */
  unknown?: string;
}

/** The skills of all sources. The later source wins, unless its skill can't be used. */
export class SkillLibrary {
  readonly #sources: readonly SkillSource[] | undefined;
  readonly #files = new FileCache<Known>({ parse: knownOf, failed: unreadable, maxBytes: MAX_SKILL_BYTES + 1 });

  constructor(sources: readonly SkillSource[] | undefined) {
    this.#sources = sources;
  }

  async list(reach: SkillReach): Promise<SkillList> {
    const { folders, problems } = this.#folders(reach);
    const skills = new Map<string, FoundSkill>();
    const unlisted: string[] = [];
    const unknown: { path: string; problem: string }[] = [];
    for (const source of folders) {
      const all = await this.#look(source).catch((error: unknown) => {
        unlisted.push(`${source.path}: It can't be read: ${shortReason(error)}`);
        return [];
      });
      for (const { listed, problems: own, unknown: path } of all) {
        problems.push(...own);
        if (path !== undefined) unknown.push({ path, problem: own.join("\n") });
        const other = listed && skills.get(listed.name);
        if (other?.source === source) problems.push(sameName(listed!, other));
        else if (listed) skills.set(listed.name, { ...listed, source });
      }
    }
    return { skills, problems: [...unlisted, ...problems], unlisted, unknown };
  }

  /** Reads one skill again. `null`: there is none of that name that can be used. */
  async load(name: string, reach: SkillReach): Promise<LoadableSkill | null> {
    const { skills } = await this.list(reach);
    const found = skills.get(name.normalize("NFKC"));
    if (!found) return null;
    const { source, path } = found;
    const folder = path.slice(0, -FILE.length - 1);
    const file = await source.reader.read(path, { maxBytes: MAX_SKILL_BYTES + 1 });
    const { skill } = file ? parsedFile(file, nameOf(folder)) : { skill: null };
    return skill && { skill, folder, isHost: source.isHost };
  }

  #folders({ files, isTrusted, resourceId }: SkillReach): { folders: Folder[]; problems: string[] } {
    const sources = this.#sources ?? (isTrusted ? DISCOVERED : []);
    const folders = sources.flatMap((source): Folder[] => {
      if (source instanceof HostFolder) return [{ reader: hostReader, path: source.path, scope: "", isHost: true }];
      return files ? [{ reader: files, path: source, scope: resourceId, isHost: false }] : [];
    });
    const unread = this.#sources && !files ? this.#sources.filter((source) => typeof source === "string") : [];
    const problems = unread.map((path) => `${path}: this harness has no workspace to read skills from.`);
    return { folders, problems };
  }

  async #look(source: Folder): Promise<Known[]> {
    const { reader, path } = source;
    const entries = (await reader.list(path)) ?? [];
    const all = entries.filter(({ type }) => type === "directory").map(({ name }) => name);
    const names = all.slice(0, MAX_SKILLS);
    const found = await this.#files.getAll(
      source,
      names.map((name) => `${path}/${name}/${FILE}`),
    );
    const known = await inGroups(names, (name, at) => found[at] ?? withoutFile(reader, `${path}/${name}`));
    if (all.length === names.length) return known;
    const tooMany = `${path}: has ${all.length} folders, and only ${MAX_SKILLS} are read. Remove some.`;
    return [{ listed: null, problems: [tooMany] }, ...known];
  }
}

async function withoutFile(reader: WorkspaceReader, folder: string): Promise<Known> {
  const entries = (await reader.list(folder)) ?? [];
  const similar = entries.find((entry) => entry.name.toLowerCase() === FILE.toLowerCase());
  if (!similar) return { listed: null, problems: [] };
  const found = similar.type === "file" ? `is named ${similar.name}` : "is not a file";
  return { listed: null, problems: [`${folder}/${FILE}:1: ${found}. Name the file with the instructions ${FILE}.`] };
}

export interface LoadableSkill {
  skill: AgentSkill;
  folder: string;
  /** It is not in the workspace, so the file tools do not reach it. */
  isHost: boolean;
}

function knownOf(path: string, file: { text: string; size: number }): Known {
  const parsed = parsedFile(file, nameOf(path.slice(0, -FILE.length - 1)));
  const all = [
    ...parsed.problems.map(({ line, message }) => `${path}:${line}: ${message} The skill is not used.`),
    ...parsed.warnings.map(({ line, message }) => `${path}:${line}: ${message}`),
  ];
  const problems = all.slice(0, MAX_PROBLEMS);
  if (!parsed.skill) return { listed: null, problems };
  const { instructions: _instructions, ...listed } = parsed.skill;
  return { listed: { ...listed, path, hash: hashed(file.text) }, problems };
}

/** The skill stays as it was. */
const unreadable = (path: string, reason: string, known: Known | null): Known => ({
  ...(known ?? { listed: null, unknown: path }),
  problems: [`${path}:1: It can't be read: ${reason}`],
});

const sameName = ({ path, name }: ListedSkill, other: ListedSkill): string =>
  `${path}:1: ${other.path} has the name "${name}" too. Rename one of them. This skill is not used.`;

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

const parsedFile = ({ text, size }: { text: string; size: number }, folder: string): ParsedSkill =>
  size > MAX_SKILL_BYTES ? tooLarge(size) : parseSkill(text, { folder });

const tooLarge = (size: number): ParsedSkill => ({
  skill: null,
  problems: [
    {
      line: 1,
      message: `The file has ${size} bytes, at most ${MAX_SKILL_BYTES} are allowed. Move parts of it to other files.`,
    },
  ],
  warnings: [],
});
