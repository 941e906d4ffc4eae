import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { HarnessDisplayState, Session } from "@cinch/core";
import { script, type ScriptedModel, type Step } from "@cinch/testkit";
import { appCommands } from "../../../src/app/commands/index.ts";
import type { CommandContext, PickItem, PickList } from "../../../src/app/commands/command.ts";
import { openProject } from "../../../src/setup/open-project.ts";
import type { Project, ProjectFlags } from "../../../src/setup/project.ts";
import { commandIn } from "../../../src/app/typed-command.ts";
import { line, text, type Line } from "../../../src/terminal/line.ts";
import { plainText } from "../../text/shown.ts";

/** What the user does with a list: an item, by its label and way, or nothing. */
type Pick = { label: string | RegExp; way?: string; query?: string } | null;

interface StageOptions {
  /** Files of the home, by their path in it. The project is the folder `shop`. */
  files?: Record<string, string>;
  flags?: ProjectFlags;
  trusted?: boolean;
  rows?: number;
  env?: Record<string, string>;
  /** Instead of a scripted model. */
  modelId?: "offline";
}

/** A real project with a scripted model, and a user who answers lists. */
export class CommandStage implements AsyncDisposable {
  readonly project: Project;
  readonly session: Session;
  readonly home: string;
  readonly context: CommandContext;
  /** Everything that was printed or said, as rows. */
  printed: string[] = [];
  readonly pages: { title: string; rows: string[] }[] = [];
  /** The lists that were shown, each as its rows. */
  readonly lists: { title: string; rows: string[]; preview: string[] }[] = [];
  composed: string | undefined;
  copied: string | undefined;
  threadsShown = 0;
  hasQuit = false;
  #picks: Pick[] = [];

  constructor(home: string, project: Project, session: Session, rows: number) {
    this.home = home;
    this.project = project;
    this.session = session;
    const print = (lines: readonly Line[]) => void this.printed.push(...lines.map(plainText));
    this.context = {
      project,
      session,
      display: () => session.getDisplayState(),
      screen: () => ({ width: 80, rows, now: Date.now(), unicode: true }),
      keys: () => [{ keys: "Ctrl-T", action: "whole thread" }],
      print,
      say: (message) => print([line(message)]),
      pick: (list) => this.#pick(list),
      ask: async ({ initial }) => `${initial ?? ""}!`,
      page: async ({ title, lines }) => void this.pages.push({ title, rows: lines.map(plainText) }),
      edit: async (given) => given,
      compose: (composed) => void (this.composed = composed),
      copy: async (copied) => {
        this.copied = copied;
        return { ok: true, how: "xclip" };
      },
      showThread: () => void this.threadsShown++,
      quit: () => void (this.hasQuit = true),
    };
  }

  get folder(): string {
    return this.project.folder;
  }

  write(path: string, contents: string): void {
    writeFileSync(join(this.folder, path), contents);
  }

  /** Settles when the display is like this. */
  async until(is: (display: HarnessDisplayState) => boolean): Promise<void> {
    while (!is(this.session.getDisplayState())) await sleep(5);
  }

  /** The user will do this with the next lists. */
  picks(...picks: Pick[]): this {
    this.#picks.push(...picks);
    return this;
  }

  /** Runs a command as it is typed. Returns what it printed. */
  async run(typed: string): Promise<string[]> {
    const { name, argument } = commandIn(typed)!;
    const command = appCommands.find((one) => one.name === name);
    assert.ok(command, `There is no command /${name}`);
    this.printed = [];
    await command.run(argument, this.context);
    assert.deepEqual(this.#picks, [], "the user was shown fewer lists than expected");
    return this.printed;
  }

  async #pick<T>(list: PickList<T>): Promise<T | undefined> {
    const pick = this.#picks.shift();
    assert.notEqual(pick, undefined, `the list "${list.title}" was not expected`);
    const items = pick?.query === undefined ? list.items : await list.search!(pick.query);
    const rows = items.map(({ label, details = [] }) => text([label, ...details].join("  ").trimEnd()));
    const found = items.find(
      ({ label }) => pick && (typeof pick.label === "string" ? label === pick.label : pick.label.test(label)),
    );
    const way = list.ways?.find(({ key }) => key === pick?.way) ?? list.ways?.[0];
    const chosen: PickItem<T> | undefined = found && way ? { ...found, value: way.value(found.value) } : found;
    const preview = chosen && list.preview ? (await list.preview(chosen)).map(plainText) : [];
    this.lists.push({ title: list.title, rows, preview });
    if (pick) assert.ok(chosen, `"${pick.label}" is not in the list:\n${rows.join("\n")}`);
    return chosen?.value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.project.close();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 9 });
  }
}

export async function commandStage(steps: Step[] | ScriptedModel, options: StageOptions = {}): Promise<CommandStage> {
  const { files = {}, flags = {}, trusted = true, rows = 24, env = {}, modelId } = options;
  const home = realpathSync(mkdtempSync(join(tmpdir(), "cinch-commands-")));
  mkdirSync(join(home, "shop"));
  for (const [path, contents] of Object.entries(files)) {
    mkdirSync(join(home, path, ".."), { recursive: true });
    writeFileSync(join(home, path), contents);
  }
  const model = Array.isArray(steps) ? script(...steps) : steps;
  const project = await openProject({
    folder: join(home, "shop"),
    env: { HOME: home, PATH: process.env["PATH"], ...env },
    flags,
    trusted,
    ...(modelId === "offline" ? {} : { model: { id: "scripted/one", fallback: false, load: async () => model } }),
  });
  const session = await project.harness.createSession();
  await session.createThread();
  return new CommandStage(home, project, session, rows);
}

/** Without what differs from run to run. */
export const withoutTimes = (rows: readonly string[]): string[] =>
  rows.map((row) => row.replace(/ {2}(now|\d+ (min|s|h|d))(?= |$)/g, ""));
