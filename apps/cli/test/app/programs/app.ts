/**
 * The app on a real terminal, with the real harness, store and workspace; only the model is scripted, by SCRIPT in `scripts.ts`. The folder
 * is the current one; the database and the state of the user are in STATE. Arguments are those of `cinch`: `--continue`, `--resume ID`.
 * With CLOCK=slow-frames each look at the clock takes 100 ms, as on a machine that is busy while a frame is made.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { stderr, stdin, stdout } from "node:process";
import { Agent, Harness, systemClock, type Clock } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { script } from "@cinch/testkit";
import { localWorkspace } from "@cinch/workspace";
import type { AppOptions } from "../../../src/cli-command.ts";
import { appCommands } from "../../../src/app/commands/index.ts";
import { runInTerminal } from "../../../src/app/run-in-terminal.ts";
import { mergedConfig } from "../../../src/setup/config/config.ts";
import { nothingNarrowed } from "../../../src/setup/config/narrowed-config.ts";
import type { Project } from "../../../src/setup/project.ts";
import { featuresOf } from "../../../src/terminal/features.ts";
import { ttyInput, TtyOutput } from "../../../src/terminal/tty.ts";
import { scripts } from "./scripts.ts";

const { SCRIPT, STATE } = process.env as { SCRIPT: string; STATE: string };
const folder = process.cwd();
const db = join(STATE, "cinch.db");
const store = sqliteStore({ path: db });
const model = script(...scripts[SCRIPT]!);
const agent = (name: string) => new Agent({ name, instructions: "Test.", model: "scripted" });
const workspace = localWorkspace({ root: folder, sandbox: "none" });
const rules: Project["rules"] = [{ category: "edit", policy: "allow" }];
const harness = new Harness({
  id: "app-test",
  storage: store,
  modes: [
    { id: "build", agent: agent("build") },
    { id: "plan", agent: agent("plan"), transitionsTo: "build" },
  ],
  defaultModeId: process.env["MODE"] ?? "build",
  permissions: [...rules],
  resolveModel: () => model,
  workspace,
});
const project: Project = {
  folder,
  env: process.env,
  trusted: true,
  model: { id: "scripted", fallback: false, load: async () => model },
  config: mergedConfig({ user: {}, project: nothingNarrowed, flags: {} }),
  rules,
  protection: { kind: "none", description: "" },
  store,
  db,
  harness,
  workspace,
  notes: [],
  close: () => harness.close(),
};
const output = new TtyOutput(stdout, { onError: (error) => stderr.write(String(error)) });
process.exitCode = await runInTerminal({
  project,
  thread: threadOf(process.argv.slice(2)),
  commands: [...appCommands, { name: "crash", description: "crashes when the gate is open", run: crashLater }],
  terminal: { input: ttyInput(stdin), output },
  features: featuresOf(process.env),
  clock: process.env["CLOCK"] === "slow-frames" ? slowClock() : systemClock,
  env: process.env,
  stateFolder: STATE,
});

function threadOf([flag, id]: string[]): AppOptions["thread"] {
  if (flag === "--resume") return id === undefined ? { kind: "pick" } : { kind: "id", id };
  return { kind: flag === "--continue" ? "newest" : "new" };
}

function slowClock(): Clock {
  let looks = 0;
  return { now: () => systemClock.now() + 100 * looks++, after: (ms, run) => systemClock.after(ms, run) };
}

function crashLater(): void {
  setInterval(() => {
    if (existsSync("gate")) throw new Error("crashed on purpose");
  }, 20);
}
