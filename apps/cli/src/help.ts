import { COMMANDS, OPTIONS, type CommandSpec, type OptionName, type OptionSpec } from "./command-table.ts";
import { ExitCode } from "./exit.ts";
import { providers } from "./models/providers.ts";
import { cinch } from "./invocation.ts";

/** The help for a command, for a group of commands, or for all. */
export function helpOf(topic: string | undefined): string {
  if (topic === undefined) return overview();
  const specs = COMMANDS.filter(({ name }) => name === topic || name.startsWith(`${topic} `));
  return specs.map(helpOfCommand).join("\n");
}

function overview(): string {
  const listed = COMMANDS.filter(({ name, hidden }) => name !== "" && !hidden);
  return sections([
    "cinch: conversations that survive anything",
    section("Usage", columns([[`${cinch} [options]`, "the agent, in the terminal"], ...listed.map(usageRow)])),
    section("Options", optionRows(COMMANDS.find(({ name }) => name === "")!)),
    `${cinch} help COMMAND, or --help after a command, says more about it.`,
    models(),
    environment,
    exitCodes,
  ]);
}

const usageRow = ({ name, about }: CommandSpec): [string, string] => [`${cinch} ${name}`, about];

function helpOfCommand(spec: CommandSpec): string {
  const { name, usage, about, notes = [] } = spec;
  const lines = usage.map((words) => `  ${cinch} ${name} ${words}`.trimEnd());
  const isRun = name === "run" || name === "answer";
  return sections([
    `cinch ${name}: ${about}`,
    section("Usage", lines),
    ...(Object.keys(spec.options).length > 0 ? [section("Options", optionRows(spec))] : []),
    ...(notes.length > 0 ? [notes.map((note) => `  ${note}`).join("\n")] : []),
    ...(isRun ? [models(), environment, exitCodes] : []),
  ]);
}

function optionRows({ name, options }: CommandSpec): string[] {
  const rows = Object.entries(options).map(([option, about]): [string, string] => {
    const { short, value }: OptionSpec = OPTIONS[option as OptionName];
    // Only the terminal app offers a list.
    const shown = option === "resume" && name === "" ? "[ID]" : value;
    return [`${short ? `-${short}, ` : ""}--${option}${shown ? ` ${shown}` : ""}`, about];
  });
  return columns([...rows, ["-h, --help", "this text"], ["-v, --version", "the version"]]);
}

const models = (): string =>
  section(
    "Models",
    columns([
      ["offline", "built in, rule-based, no network"],
      ...providers.map(({ name, about }): [string, string] => [`${name}/<id>`, about]),
    ]),
  );

const environment = section(
  "Environment",
  columns([
    ["CINCH_MODEL", "the model, if --model is not given"],
    ["CINCH_BASE_URL", "the server of openai-compatible/…, vllm/… and llamacpp/…"],
    ["CINCH_API_KEY", "its key, if it needs one"],
    ["CINCH_TOKEN", "your token for cinch serve, if --token is not given"],
    ["CINCH_LEDGER", "a file to which each tool appends a line when it begins and when it ends"],
    ["CRASH_AT", "EVENT:before|inside|after|emitted[:N], kill this process when its Nth such event reaches that point"],
    ["CINCH_OFFLINE_DELAY_MS", "how long the offline model takes per word (default 15)"],
  ]),
);

const exitCodes = section("Exit codes", [
  code(ExitCode.complete, "the turn is complete, or there was nothing to do"),
  code(ExitCode.error, "the turn failed, or the store did; doctor found something that must be repaired"),
  code(ExitCode.usage, "it can't be started: a wrong flag, model or thread, a missing key; nothing was written"),
  code(ExitCode.waiting, "it waits for a person: an unanswered question or approval, or a parked thread"),
  code(ExitCode.limit, "it stopped at a limit: steps or budget"),
  code(ExitCode.aborted, "it was aborted (Ctrl-C)"),
  code(
    ExitCode.hangup,
    `the terminal went away; ${ExitCode.pipeClosed} the reader of stdout did; ${ExitCode.terminated} SIGTERM. The turn is kept and can be continued`,
  ),
]);

function code(number: number, about: string): string {
  return `  ${String(number).padEnd(4)} ${about}`;
}

function columns(rows: readonly [string, string][]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`);
}

function section(title: string, lines: readonly string[]): string {
  return [title, ...lines].join("\n");
}

const sections = (parts: readonly string[]): string => `${parts.join("\n\n")}\n`;
