import { inPackage } from "./mutant.ts";

/** The commands of the composer. */
export const composerCommands = inPackage("apps/cli", [
  {
    attacks: "commands: a rewind ends a turn without a question",
    file: "app/commands/rewind.ts",
    find: "chosen && (await mayEndTurn(context))",
    replace: "chosen",
    tests: ["app/commands/rewind"],
  },
  {
    attacks: "commands: a hasty Enter ends a turn or a command",
    file: "app/commands/confirm.ts",
    find: 'value: false, label: "No',
    replace: 'value: true, label: "No',
    tests: ["app/commands/rewind", "app/commands/insight"],
  },
  {
    attacks: "commands: a thread that asks is listed as running",
    file: "app/commands/thread-items.ts",
    find: 'if (asking.has(id)) return "asks you";',
    replace: "",
    tests: ["app/commands/threads"],
  },
  {
    attacks: "commands: what another program changed is announced as reverted",
    file: "app/commands/rewind.ts",
    find: "${name} CHANGED SINCE: kept",
    replace: "${name} restored",
    tests: ["app/commands/rewind"],
  },
  {
    attacks: "commands: the skills of an untrusted folder are read",
    file: "app/commands/skills.ts",
    find: "...(trusted ? ofProject(folder) : [])",
    replace: "...ofProject(folder)",
    tests: ["app/commands/insight"],
  },
  {
    attacks: "commands: an export can be read by other users",
    file: "app/commands/export.ts",
    find: "mode: 0o600, ",
    replace: "",
    tests: ["app/commands/files"],
  },
  {
    attacks: "commands: an export replaces a file",
    file: "app/commands/export.ts",
    find: 'flag: "wx"',
    replace: 'flag: "w"',
    tests: ["app/commands/files"],
  },
  {
    attacks: "commands: code is copied without its tabs",
    file: "text/code-blocks.ts",
    find: "open?.lines.push(withoutIndent(line, open.indent))",
    replace: "open?.lines.push(block.source)",
    tests: ["text/code-blocks"],
  },
]);
