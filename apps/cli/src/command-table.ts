import { cinch } from "./invocation.ts";

/** What a shell can complete: a list of words, or what only the program knows. */
export type Completes = readonly string[] | "threads" | "pending" | "models" | "tokens" | "files" | "commands";

export interface OptionSpec {
  type: "boolean" | "string";
  short?: string;
  multiple?: boolean;
  /** What stands for the value in `--help`. */
  value?: string;
  completes?: Completes;
}

const FORMATS = ["markdown", "json", "html"] as const;
export type ExportFormat = (typeof FORMATS)[number];
const SHELLS = ["bash", "zsh", "fish"] as const;
export type CompletedShell = (typeof SHELLS)[number];

/** An option means the same in every command that has it. */
export const OPTIONS = {
  continue: { type: "boolean" },
  resume: { type: "string", value: "ID", completes: "threads" },
  thread: { type: "string", value: "ID", completes: "threads" },
  model: { type: "string", value: "NAME", completes: "models" },
  mode: { type: "string", value: "NAME", completes: ["build", "plan"] },
  yolo: { type: "boolean" },
  allow: { type: "string", multiple: true, value: "PATTERN" },
  deny: { type: "string", multiple: true, value: "PATTERN" },
  budget: { type: "string", value: "DOLLARS" },
  trust: { type: "boolean" },
  plain: { type: "boolean" },
  db: { type: "string", value: "PATH", completes: "files" },
  json: { type: "boolean" },
  query: { type: "string", value: "WORDS" },
  limit: { type: "string", value: "N" },
  format: { type: "string", value: "FORMAT", completes: FORMATS },
  output: { type: "string", short: "o", value: "FILE", completes: "files" },
  yes: { type: "boolean", short: "y" },
  message: { type: "string", short: "m", value: "TEXT" },
  host: { type: "string", value: "ADDRESS", completes: ["127.0.0.1", "0.0.0.0"] },
  port: { type: "string", value: "N" },
  token: { type: "string", value: "TOKEN" },
  "read-only": { type: "boolean" },
  open: { type: "boolean" },
  "allow-host": { type: "string", multiple: true, value: "NAME" },
  may: {
    type: "string",
    value: "ROLES",
    completes: ["read", "read,talk", "read,talk,approve", "read,talk,approve,manage"],
  },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const satisfies Record<string, OptionSpec>;

export type OptionName = keyof typeof OPTIONS;

export interface CommandSpec {
  /** One or two words; "" is the terminal app. */
  name: string;
  /** What may follow the name. */
  usage: readonly string[];
  about: string;
  /** By option, what it does. */
  options: Partial<Record<OptionName, string>>;
  /** What its arguments complete to, in their order. */
  completes: readonly Completes[];
  /** What `--help` says below the options. */
  notes?: readonly string[];
  /** For scripts of ours; `--help` does not list it. */
  hidden?: boolean;
}

const db = "the file of the threads (default: .cinch/cinch.db)";
const model =
  "provider/id, or offline (default: $CINCH_MODEL, else the configured one, else the first provider with a key)";
const yolo = "nothing asks; what is denied stays denied";
const trust = "obey AGENTS.md, skills and .cinch of this folder in this run, even if it is not trusted";

export const COMMANDS: readonly CommandSpec[] = [
  {
    name: "",
    usage: ["[options]"],
    about: "the agent, in the terminal",
    options: {
      continue: "continue the newest thread",
      resume: "continue this thread; without an ID, choose one from a list",
      model,
      mode: "the mode in which a new thread begins: plan or build",
      yolo,
      plain: "lines of text instead of a screen, as with TERM=dumb",
      db,
    },
    completes: ["commands"],
  },
  {
    name: "run",
    usage: ['"prompt" [options]', '--continue ["prompt"] [options]'],
    about: "the same agent for scripts: the answer goes to stdout, everything else to stderr",
    options: {
      continue: "continue the newest thread (default: a new one); a prompt answers the question that it asks",
      thread: "continue this thread; --resume ID is the same",
      resume: "continue this thread",
      model,
      mode: "the mode in which a new thread begins: plan or build",
      yolo,
      allow: "commands that don't ask, such as 'npm test *'; may be repeated",
      deny: "commands that are refused; may be repeated",
      budget: "how much a turn may cost",
      trust,
      db,
      json: "print every event as one line of JSON, and nothing else, to stdout",
    },
    completes: [],
    notes: [
      'What is piped in is added to the prompt; it is the prompt, if there is no other. "-" as the last word stands for stdin in any case.',
      "Ctrl-C aborts the turn; a second Ctrl-C exits at once. Either way the next prompt can continue the thread.",
      `A run that needs an answer exits with code 3, and prints how to give it: ${cinch} answer ID yes`,
    ],
  },
  {
    name: "threads list",
    usage: ["[options]"],
    about: "list the threads, the newest first",
    options: { query: "only threads that contain these words", limit: "at most so many", json: "as JSON", db },
    completes: [],
  },
  {
    name: "threads show",
    usage: ["ID [options]"],
    about: "print a thread as text",
    options: { json: "as JSON: all messages, with the results of their calls", db },
    completes: ["threads"],
  },
  {
    name: "threads export",
    usage: ["ID --format markdown|json|html [-o FILE]"],
    about: "write a thread as Markdown, as JSON, or as one HTML file without scripts",
    options: { format: "markdown (default), json or html", output: "a file, instead of stdout", db },
    completes: ["threads"],
  },
  {
    name: "threads delete",
    usage: ["ID --yes"],
    about: "delete a thread and those of its subagents, for good",
    options: { yes: "do not ask", db },
    completes: ["threads"],
  },
  {
    name: "pending",
    usage: ["[options]"],
    about: "list what waits for you, over all threads",
    options: { json: "as JSON", db },
    completes: [],
  },
  {
    name: "answer",
    usage: ["ID yes|no|always|TEXT [options]"],
    about: "answer what waits, and continue its turn as run does",
    options: {
      message: "a reason or a remark, for the model",
      model,
      trust,
      db,
      json: "print every event as one line of JSON, and nothing else, to stdout",
    },
    completes: ["pending", ["yes", "no", "always"]],
    notes: [
      "An approval takes yes, no or always (yes, and never ask again for this pattern in this thread). A declined call ends the turn, unless --message tells the model why.",
      "A plan takes yes, no, or a text: what to change. A question takes a text; where several options may be chosen, give one argument for each.",
    ],
  },
  {
    name: "abort",
    usage: ["THREAD [options]"],
    about: "end the turn of a thread, whichever process drives it",
    options: { db },
    completes: ["threads"],
  },
  {
    name: "acp",
    usage: ["[options]"],
    about: "the agent for an editor that speaks ACP, on stdin and stdout",
    options: {
      model,
      mode: "the mode in which a new thread begins: plan or build",
      yolo,
      allow: "commands that don't ask, such as 'npm test *'; may be repeated",
      deny: "commands that are refused; may be repeated",
      budget: "how much a turn may cost",
      trust: "obey AGENTS.md, skills and .cinch of every folder that the editor opens",
      db,
    },
    completes: [],
  },
  {
    name: "serve",
    usage: ["[options]"],
    about: "serve the threads of this folder over HTTP, until Ctrl-C",
    options: {
      host: "the address to listen on (default: 127.0.0.1, which only this machine reaches)",
      port: "the port (default: 4664, or a free one)",
      token: "your token (default: $CINCH_TOKEN, else the tokens of cinch token, else a random one, which is printed)",
      "read-only": "every token may only read",
      open: "open the address in a browser",
      "allow-host": "a name under which a proxy passes requests on, such as cinch.example.com; may be repeated",
      model,
      trust,
      db,
    },
    completes: [],
    notes: [
      "The address goes to stdout. Elsewhere than on a terminal, each request is a line of JSON on stderr; a terminal gets failures only.",
      "The first Ctrl-C or SIGTERM waits for what runs, up to 30 s. The second ends it at once; turns continue when their threads are opened again.",
      "Other users of this machine can see --token in the list of processes, and the address that --open opens; CINCH_TOKEN they can't.",
    ],
  },
  {
    name: "token list",
    usage: ["[options]"],
    about: "list the people who may reach this folder over HTTP",
    options: { json: "as JSON" },
    completes: [],
  },
  {
    name: "token add",
    usage: ["NAME --may ROLES"],
    about: "print a new token for a person, once",
    options: { may: "what the person may do: read, talk, approve, manage, with commas between them" },
    completes: [],
    notes: [
      "read: see everything. talk: messages, questions, abort. approve: approvals and plans. manage: rules, modes, models, rewind, delete, metrics.",
      "No role includes another. The names of people are on what they do. A server that runs knows the token at once.",
    ],
  },
  {
    name: "token revoke",
    usage: ["NAME"],
    about: "end the access of a person, and the streams that are open",
    options: {},
    completes: ["tokens"],
  },
  {
    name: "doctor",
    usage: ["[options]"],
    about: "check runtime, terminal, sandbox, keys, database and configuration",
    options: { json: "as JSON", db },
    completes: [],
  },
  {
    name: "completion",
    usage: ["bash|zsh|fish"],
    about: "print a script that completes commands, options, threads and models",
    options: {},
    completes: [SHELLS],
    notes: [
      `bash: source <(${cinch} completion bash) in ~/.bashrc`,
      `zsh:  source <(${cinch} completion zsh) in ~/.zshrc, after compinit`,
      `fish: ${cinch} completion fish > ~/.config/fish/completions/cinch.fish`,
    ],
  },
  {
    name: "torture",
    usage: [""],
    about: "kill a process at every event that reaches the disk, and check what is left (a minute or two)",
    options: {},
    completes: [],
  },
  {
    name: "help",
    usage: ["[COMMAND]"],
    about: "this text, or all about a command",
    options: {},
    completes: ["commands"],
  },
  { name: "complete", usage: ["-- WORD…"], about: "", options: {}, completes: [], hidden: true },
];

/** The first words of the commands. */
export const commandNames = (): string[] => [
  ...new Set(COMMANDS.filter(({ name, hidden }) => name !== "" && !hidden).map(({ name }) => name.split(" ")[0]!)),
];

/** The second words of the commands that begin with this one; none for most. */
export const subcommandsOf = (first: string): string[] =>
  COMMANDS.flatMap(({ name }) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : []));

export const isFormat = (format: string): format is ExportFormat => FORMATS.some((one) => one === format);
export const isShell = (shell: string): shell is CompletedShell => SHELLS.some((one) => one === shell);
