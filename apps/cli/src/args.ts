import { nearest } from "@cinch/core/nearest";
import { parseArgs } from "node:util";
import type { AnswerOptions, AppOptions, CliCommand, RunOptions, ServeOptions } from "./cli-command.ts";
import { COMMANDS, commandNames, isFormat, isShell, OPTIONS, subcommandsOf } from "./command-table.ts";
import type { CommandSpec, OptionName } from "./command-table.ts";
import { UsageError } from "./exit.ts";
import { cinch } from "./invocation.ts";
import type { ProjectFlags } from "./setup/project.ts";

type Values = ReturnType<typeof parse>["values"];

/** Throws `UsageError`. */
export function commandOf(args: readonly string[]): CliCommand {
  const given = withBareResume(args);
  const { values, positionals } = parse(given);
  if (values.version) return { kind: "version" };
  const [first, second] = positionals;
  if (first === "help") return { kind: "help", topic: topicOf(positionals.slice(1)) };
  if (values.help) return { kind: "help", topic: first === undefined ? undefined : topicOf(positionals) };
  if (first === undefined) return appOf(values, given);
  const spec = specOf(first, second);
  checkOptions(spec, values);
  return build(spec.name, values, positionals.slice(spec.name.split(" ").length));
}

/** The ID of `--resume` may be missing, which `parseArgs` can't express. */
function withBareResume(args: readonly string[]): string[] {
  return args.map((arg, at) => {
    const next = args[at + 1];
    const isBare = arg === "--resume" && (next === undefined || next.startsWith("-"));
    return isBare && !args.slice(0, at).includes("--") ? "--resume=" : arg;
  });
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Node's own message explains how to escape a leading dash, which is rarely the problem.
    const unknown = /^Unknown option '--?([^']*)'/.exec(error.message)?.[1];
    throw new UsageError(unknown === undefined ? error.message : unknownOption(unknown), { cause: error });
  }
}

function unknownOption(name: string): string {
  const meant = nearest(name, Object.keys(OPTIONS));
  return `There is no option "${name}".${meant ? ` Perhaps you meant: --${meant}` : ""}`;
}

function specOf(first: string, second: string | undefined): CommandSpec {
  const subcommands = subcommandsOf(first);
  if (subcommands.length === 0) {
    const spec = COMMANDS.find(({ name }) => name === first);
    if (spec && first !== "") return spec;
    const meant = nearest(first, commandNames());
    const perhaps = meant ? `Perhaps you meant: ${cinch} ${meant}. ` : "";
    throw new UsageError(`There is no command "${first}". ${perhaps}To send it to a model: ${cinch} run "${first}"`);
  }
  // `cinch threads` lists them.
  const spec = COMMANDS.find(({ name }) => name === `${first} ${second ?? subcommands[0]}`);
  if (spec) return spec;
  const meant = nearest(second!, subcommands);
  const perhaps = meant ? `Perhaps you meant: ${cinch} ${first} ${meant}` : `There are: ${subcommands.join(", ")}.`;
  throw new UsageError(`There is no command "${first} ${second}". ${perhaps}`);
}

/** Throws for an option that belongs to another command. */
function checkOptions({ name, options }: CommandSpec, values: Values): void {
  const foreign = givenOptions(values).find((option) => options[option] === undefined);
  if (foreign === undefined) return;
  const known = Object.keys(options);
  const list = known.length === 0 ? "It has none." : `It has ${known.map((one) => `--${one}`).join(", ")}.`;
  throw new UsageError(`${`cinch ${name}`.trim()} has no option --${foreign}. ${list}`);
}

function givenOptions(values: Values): OptionName[] {
  for (const [option, value] of Object.entries(values)) {
    const isBlank = [value].flat().some((one) => typeof one === "string" && one.trim() === "");
    if (isBlank && option !== "resume") throw new UsageError(`--${option} is empty.`);
  }
  return Object.keys(values) as OptionName[];
}

function appOf(values: Values, args: readonly string[]): CliCommand {
  const app = COMMANDS.find(({ name }) => name === "")!;
  if (givenOptions(values).some((option) => app.options[option] === undefined))
    throw new UsageError(`A command is missing. Perhaps you meant: ${cinch} run ${args.join(" ")}`);
  const { resume, plain = false } = values;
  const thread: AppOptions["thread"] = resume === "" ? { kind: "pick" } : threadOf(values);
  if (resume !== undefined && values.continue) throw new UsageError("Give either --resume or --continue, not both.");
  return { kind: "app", options: { thread, plain, flags: flagsOf(values) } };
}

function build(name: string, values: Values, words: readonly string[]): CliCommand {
  const { db, json = false } = values;
  const id = () => oneId(name, words);
  switch (name) {
    case "run":
      return { kind: name, options: runOf(values, words) };
    case "threads list":
      return { kind: name, options: { db, json, query: values.query, limit: limitOf(values.limit) } };
    case "threads show":
      return { kind: name, options: { db, json, id: id() } };
    case "threads export":
      return { kind: name, options: { db, id: id(), format: formatOf(values.format), output: values.output } };
    case "threads delete":
      return { kind: name, options: { db, id: id(), yes: values.yes ?? false } };
    case "pending":
    case "doctor":
      checkNoWords(name, words);
      return { kind: name, options: { db, json } };
    case "answer":
      return { kind: name, options: answerOf(values, words) };
    case "abort":
      return { kind: name, options: { db, id: id() } };
    case "acp":
      checkNoWords(name, words);
      return { kind: name, options: { trust: values.trust ?? false, flags: flagsOf(values) } };
    case "serve":
      checkNoWords(name, words);
      return { kind: name, options: serveOf(values) };
    case "token list":
      checkNoWords(name, words);
      return { kind: name, options: { json } };
    case "token add":
      return { kind: name, options: { name: personOf(name, words), may: rolesOf(values) } };
    case "token revoke":
      return { kind: name, options: { name: personOf(name, words) } };
    case "completion":
      return { kind: name, shell: shellOf(words) };
    case "complete":
      return { kind: name, words };
    case "torture":
      checkNoWords(name, words);
      return { kind: name };
    default:
      throw new Error(`The command "${name}" is in the table and not here.`);
  }
}

function runOf(values: Values, words: readonly string[]): RunOptions {
  const { json = false, trust = false } = values;
  const stdin = words.at(-1) === "-";
  const said = stdin ? words.slice(0, -1) : words;
  const prompt = said.length > 0 ? said.join(" ") : undefined;
  if (prompt?.trim() === "") throw new UsageError("The prompt is empty.");
  return { prompt, stdin, thread: threadOf(values), json, trust, flags: flagsOf(values) };
}

function answerOf(values: Values, [id, ...words]: readonly string[]): AnswerOptions {
  if (id === undefined) throw new UsageError(`What do you answer? ${cinch} pending lists what waits.`);
  if (words.join("").trim() === "")
    throw new UsageError(`The answer is missing: ${cinch} answer ${id} yes (or no, always, or a text).`);
  const { json = false, trust = false, message } = values;
  return { id, words, message, json, trust, flags: flagsOf(values) };
}

function serveOf(values: Values): ServeOptions {
  const { host = "127.0.0.1", token, open = false, trust = false } = values;
  return {
    // As an address has it.
    host: host.replace(/^\[(.*)\]$/, "$1"),
    port: portOf(values.port),
    token,
    readOnly: values["read-only"] ?? false,
    open,
    names: (values["allow-host"] ?? []).map(hostNameOf),
    trust,
    flags: flagsOf(values),
  };
}

function portOf(port: string | undefined): number | undefined {
  if (port === undefined) return undefined;
  if (/^\d{1,5}$/.test(port) && Number(port) <= 65_535) return Number(port);
  throw new UsageError(`--port takes a number up to 65535, and not "${port}". 0 is any free port.`);
}

function hostNameOf(name: string): string {
  if (/^[\w.-]+(?::\d{1,5})?$/.test(name)) return name;
  throw new UsageError(`--allow-host takes the name of a host, such as cinch.example.com, and not "${name}".`);
}

function personOf(command: string, [name, ...more]: readonly string[]): string {
  if (name === undefined) throw new UsageError(`Whose token? ${cinch} ${command} NAME`);
  checkNoWords(command, more);
  return name;
}

function rolesOf({ may }: Values): string {
  if (may !== undefined) return may;
  throw new UsageError("What may this person do? For example: --may read,talk,approve");
}

function threadOf({ thread, resume, continue: newest }: Values): RunOptions["thread"] {
  if (thread !== undefined && resume !== undefined) throw new UsageError("Give either --thread or --resume, not both.");
  if (resume === "") throw new UsageError(`--resume needs the id of a thread; ${cinch} threads list lists them.`);
  const id = thread ?? resume;
  if (id !== undefined && newest) throw new UsageError("Give either --thread or --continue, not both.");
  if (id !== undefined) return { kind: "id", id };
  return { kind: newest ? "newest" : "new" };
}

function flagsOf({ db, model, mode, yolo, allow, deny, budget }: Values): ProjectFlags {
  return {
    ...(db === undefined ? {} : { db }),
    ...(model === undefined ? {} : { model }),
    ...(mode === undefined ? {} : { mode }),
    ...(yolo === undefined ? {} : { yolo }),
    ...(allow === undefined ? {} : { allow }),
    ...(deny === undefined ? {} : { deny }),
    ...(budget === undefined ? {} : { budget: dollarsOf(budget) }),
  };
}

function dollarsOf(budget: string): number {
  const dollars = Number(budget.replace(/^\$/, ""));
  if (dollars > 0 && Number.isFinite(dollars)) return dollars;
  throw new UsageError(`--budget takes dollars, such as 0.5, and not "${budget}".`);
}

function limitOf(limit: string | undefined): number | undefined {
  if (limit === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(limit)) return Number(limit);
  throw new UsageError(`--limit takes a number from 1, and not "${limit}".`);
}

function formatOf(format = "markdown") {
  if (isFormat(format)) return format;
  throw new UsageError(`There is no format "${format}". The formats are markdown, json and html.`);
}

function shellOf([shell, ...more]: readonly string[]) {
  checkNoWords("completion", more);
  if (shell !== undefined && isShell(shell)) return shell;
  throw new UsageError(`For which shell? ${cinch} completion bash, zsh or fish.`);
}

function oneId(name: string, [id, ...more]: readonly string[]): string {
  if (id === undefined || id.trim() === "")
    throw new UsageError(`Which thread? ${cinch} ${name} ID (${cinch} threads list lists them).`);
  checkNoWords(name, more);
  return id;
}

function checkNoWords(name: string, words: readonly string[]): void {
  if (words.length > 0) throw new UsageError(`cinch ${name} does not take "${words.join(" ")}".`);
}

/** The name of a command, or of a group of commands. */
function topicOf(words: readonly string[]): string | undefined {
  const [first, second] = words;
  if (first === undefined || first === "help") return undefined;
  const isGroup = subcommandsOf(first).length > 0;
  if (isGroup && (second === undefined || !subcommandsOf(first).includes(second))) return first;
  return specOf(first, second).name;
}
