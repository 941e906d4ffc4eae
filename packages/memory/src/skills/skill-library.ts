import type { WorkspaceReader } from "@cinch/core";
import { FileCache, inGroups } from "../sources/file-cache.ts";
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

export interface SkillList {
  /** By name. */
  skills: ReadonlyMap<string, ListedSkill>;
  /** Each begins with file and line. */
  problems: readonly string[];
}

/** The reader of the workspace for one thread, and whether the workspace is trusted. */
export interface SkillReach {
  files: WorkspaceReader | undefined;
  isTrusted: boolean;
}

/** Where skills are looked for in a trusted workspace if the caller lists no folders. */
const DISCOVERED = ["/.agents/skills", "/.cinch/skills"];
const FILE = "SKILL.md";
/** Of one SKILL.md. The standard recommends far less. */
const MAX_SKILL_BYTES = 256 * 1024;
const MAX_SKILLS = 1_000;

interface Folder {
  reader: WorkspaceReader;
  path: string;
  isHost: boolean;
}

interface Known {
  listed: ListedSkill | null;
  problems: string[];
}

/** The skills of all sources. The later source wins, unless its skill can't be used. */
export class SkillLibrary {
  readonly #sources: readonly SkillSource[] | undefined;
  readonly #files = new FileCache<Known>(knownOf, { maxBytes: MAX_SKILL_BYTES + 1 });

  constructor(sources: readonly SkillSource[] | undefined) {
    this.#sources = sources;
  }

  async list(reach: SkillReach): Promise<SkillList> {
    const { folders, problems } = this.#folders(reach);
    const skills = new Map<string, ListedSkill>();
    for (const folder of folders) {
      const entries = (await folder.reader.list(folder.path)) ?? [];
      const names = entries.filter(({ type }) => type === "directory").map(({ name }) => name);
      if (names.length > MAX_SKILLS)
        problems.push(`${folder.path}: has ${names.length} folders, and only ${MAX_SKILLS} are read. Remove some.`);
      for (const known of await this.#look(folder, names.slice(0, MAX_SKILLS))) {
        problems.push(...known.problems);
        if (known.listed) skills.set(known.listed.name, known.listed);
      }
    }
    return { skills, problems };
  }

  /** Reads one skill again. `null`: there is none of that name. */
  async load(name: string, reach: SkillReach): Promise<LoadableSkill | null> {
    if (/[/\\]|^\.{0,2}$/.test(name)) return null;
    for (const { reader, path, isHost } of this.#folders(reach).folders.toReversed()) {
      const file = await reader.read(`${path}/${name}/${FILE}`, { maxBytes: MAX_SKILL_BYTES + 1 });
      const { skill } = file ? parsedFile(file, name) : { skill: null };
      if (skill) return { skill, folder: `${path}/${name}`, isHost };
    }
    return null;
  }

  #folders({ files, isTrusted }: SkillReach): { folders: Folder[]; problems: string[] } {
    const sources = this.#sources ?? (isTrusted ? DISCOVERED : []);
    const folders = sources.flatMap((source): Folder[] => {
      if (source instanceof HostFolder) return [{ reader: hostReader, path: source.path, isHost: true }];
      return files ? [{ reader: files, path: source, isHost: false }] : [];
    });
    const unread = this.#sources && !files ? this.#sources.filter((source) => typeof source === "string") : [];
    const problems = unread.map((path) => `${path}: this harness has no workspace to read skills from.`);
    return { folders, problems };
  }

  async #look({ reader, path }: Folder, names: readonly string[]): Promise<Known[]> {
    const files = names.map((name) => `${path}/${name}/${FILE}`);
    const found = await this.#files.getAll(reader, files);
    return inGroups(names, (name, at) => found[at] ?? withoutFile(reader, `${path}/${name}`));
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

function knownOf(path: string, { text, size }: { text: string; size: number }): Known {
  const folder = path.split("/").at(-2) ?? "";
  const parsed = parsedFile({ text, size }, folder);
  const problems = [
    ...parsed.problems.map(({ line, message }) => `${path}:${line}: ${message} The skill is not used.`),
    ...parsed.warnings.map(({ line, message }) => `${path}:${line}: ${message}`),
  ];
  if (!parsed.skill) return { listed: null, problems };
  const { instructions: _instructions, ...listed } = parsed.skill;
  return { listed: { ...listed, path, hash: hashed(text) }, problems };
}

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
