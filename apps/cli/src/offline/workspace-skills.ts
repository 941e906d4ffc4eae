import { calling, type Skill } from "./intent.ts";

/** A path: a word with a slash, or with an ending. */
const PATH = /((?:\.{0,2}\/)?[\w@.-]+(?:\/[\w@.-]+)+\/?|[\w-]*\.[\w.-]+)/;

const listing: Skill = (sentence) => {
  if (!/^\W*(?:please )?(?:list|show)(?: me)?(?: all)?(?: the)? files\b/i.test(sentence)) return undefined;
  const path = / (?:in|of|below|under) (\S+?)\W*$/i.exec(sentence)?.[1];
  return calling("ls", path ? { path } : {}, fenced);
};

const reading: Skill = (sentence) => {
  const path = new RegExp(
    `^\\W*(?:please )?(?:read|show|open|print)(?: me)?(?: the)?(?: file)? ${PATH.source}\\W*$`,
    "i",
  );
  const [, file_path] = path.exec(sentence) ?? [];
  return file_path ? calling("read_file", { file_path }, fenced) : undefined;
};

const searching: Skill = (sentence) => {
  const pattern = /^\W*(?:please )?(?:search(?: the files)? for|grep(?: for)?) (?:"([^"]+)"|“([^”]+)”|(.+?))[.!?]?$/i;
  const [, quoted, curly, bare] = pattern.exec(sentence) ?? [];
  const wanted = quoted ?? curly ?? bare;
  return wanted ? calling("grep", { pattern: wanted, output_mode: "content" }, fenced) : undefined;
};

const running: Skill = (sentence) => {
  const [, quoted, bare] = /^\W*(?:please )?(?:run|execute) (?:`([^`]+)`|(.+))$/i.exec(sentence) ?? [];
  const command = (quoted ?? bare)?.trim();
  return command ? calling("execute", { command }, fenced) : undefined;
};

const writing: Skill = (sentence) => {
  const pattern = new RegExp(`^\\W*(?:please )?write (?:"([^"]*)"|“([^”]*)”) (?:to|into) ${PATH.source}\\W*$`, "i");
  const [, quoted, curly, file_path] = pattern.exec(sentence) ?? [];
  const content = quoted ?? curly;
  if (content === undefined || !file_path) return undefined;
  return calling("write_file", { file_path, content: `${content}\n` }, (result) => result);
};

const asking: Skill = (sentence) => {
  const [, topic] = /^\W*(?:please )?ask me(?: for| about)? (.+?)\W*$/i.exec(sentence) ?? [];
  if (!topic) return undefined;
  const question = `${topic[0]!.toUpperCase()}${topic.slice(1)}?`;
  return calling("ask_user", { question }, (result) => `Your answer: ${result}`);
};

/** Skills that need the files, the shell or the user. Each takes a whole sentence: a command may contain "and". */
export const workspaceSkills: readonly Skill[] = [listing, reading, searching, writing, running, asking];

function fenced(result: string): string {
  const fence = "`".repeat(Math.max(3, ...Array.from(result.matchAll(/`+/g), ([run]) => run.length + 1)));
  return `\n${fence}\n${result.trimEnd()}\n${fence}\n`;
}
