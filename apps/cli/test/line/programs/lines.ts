/**
 * The app as lines of text on stdin and stdout, with the real harness, store and workspace; only the model is scripted, by SCRIPT. The
 * folder is the current one; the database is in STATE. Arguments are those of `cinch`: `--continue`, `--resume ID`. GUARD is the name of a
 * file in the folder: until it exists, whatever is typed comes too early to answer a question.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { stdin, stdout } from "node:process";
import { Agent, Harness, systemClock, type Clock } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { script } from "@cinch/testkit";
import { localWorkspace } from "@cinch/workspace";
import { appCommands } from "../../../src/app/commands/index.ts";
import { GUARD_MS } from "../../../src/app/panel-focus.ts";
import type { AppOptions } from "../../../src/cli-command.ts";
import { runInLines } from "../../../src/line/run-in-lines.ts";
import { stdinLines } from "../../../src/line/stdio-lines.ts";
import { mergedConfig } from "../../../src/setup/config/config.ts";
import { nothingNarrowed } from "../../../src/setup/config/narrowed-config.ts";
import { featuresOf } from "../../../src/terminal/features.ts";
import { lineScripts } from "./line-scripts.ts";

const { SCRIPT, STATE, GUARD } = process.env as { SCRIPT: string; STATE: string; GUARD?: string };
const folder = process.cwd();
const db = join(STATE, "cinch.db");
const store = sqliteStore({ path: db });
const model = script(...lineScripts[SCRIPT]!);
const agent = (name: string) => new Agent({ name, instructions: "Test.", model: "scripted" });
const workspace = localWorkspace({ root: folder, sandbox: "none" });
const harness = new Harness({
  id: "line-test",
  storage: store,
  modes: [
    { id: "build", agent: agent("build") },
    { id: "plan", agent: agent("plan"), transitionsTo: "build" },
  ],
  defaultModeId: process.env["MODE"] ?? "build",
  permissions: [{ category: "edit", policy: "allow" }],
  resolveModel: () => model,
  workspace,
});
process.exitCode = await runInLines({
  project: {
    folder,
    env: process.env,
    trusted: true,
    model: { id: "scripted", fallback: false, load: async () => model },
    config: mergedConfig({ user: {}, project: nothingNarrowed, flags: {} }),
    protection: { kind: "none", description: "" },
    rules: [],
    workspace,
    store,
    db,
    harness,
    notes: [],
    close: () => harness.close(),
  },
  thread: threadOf(process.argv.slice(2)),
  commands: [
    ...appCommands,
    {
      name: "letters",
      description: "a long list",
      async run(_, context) {
        const items = Array.from({ length: 45 }, (_one, at) => ({
          value: at,
          label: `item ${at + 1}${at === 30 ? " zebra" : ""}`,
        }));
        context.say(`chosen ${String(await context.pick({ title: "Letters", items }))}`);
      },
    },
    {
      name: "secret",
      description: "asks for a secret",
      run: async (_, context) =>
        context.say(`length ${(await context.ask({ title: "Secret", hidden: true }))?.length}`),
    },
  ],
  input: stdinLines(stdin),
  output: { write: (text) => void stdout.write(text) },
  unicode: featuresOf(process.env).unicode,
  clock: GUARD === undefined ? systemClock : guardedBy(GUARD),
  env: process.env,
});

/** The real time, but the guard of a question lasts until the file exists. */
function guardedBy(file: string): Clock {
  const after: Clock["after"] = (ms, callback) => {
    if (ms !== GUARD_MS || existsSync(file)) return systemClock.after(ms, callback);
    const timer = setInterval(() => {
      if (!existsSync(file)) return;
      clearInterval(timer);
      callback();
    }, 20);
    return () => clearInterval(timer);
  };
  return { ...systemClock, after };
}

function threadOf([flag, id]: string[]): AppOptions["thread"] {
  if (flag === "--resume" && id !== undefined) return { kind: "id", id };
  return { kind: flag === "--continue" ? "newest" : "new" };
}
