import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { GUARD_MS } from "../../src/app/panel-focus.ts";
import { sqliteStore } from "@cinch/sqlite";
import { inherited } from "../cli.ts";
import { APP, CINCH } from "../programs.ts";
import { PseudoTerminal } from "../terminal/pseudo-terminal.ts";

/** A project in a temporary folder, in which the app runs in pseudo-terminals. */
export class AppFolder {
  readonly #base = realpathSync(mkdtempSync(join(tmpdir(), "cinch-app-")));
  readonly folder = join(this.#base, "project");
  readonly state = join(this.#base, "state");
  readonly #terminals: AppTerminal[] = [];

  constructor() {
    mkdirSync(this.folder);
    mkdirSync(this.state);
  }

  /** A shell in the folder, with the app running in it. */
  async start(script: string, { args = "", env = {} }: { args?: string; env?: Record<string, string> } = {}) {
    const terminal = await this.shell({ ...this.env(script), ...env });
    await terminal.begin(args);
    return terminal;
  }

  env(script: string): Record<string, string> {
    return { PROGRAM: APP, STATE: this.state, SCRIPT: script };
  }

  /** As another process does it. */
  async deleteThreads(): Promise<void> {
    const store = sqliteStore({ path: join(this.state, "cinch.db") });
    await store.open();
    for (const { id } of await store.threads({})) await store.deleteThread(id);
    await store.close();
  }

  /** A shell in the folder, for `cinch` itself with its built-in model. */
  cinch(env: Record<string, string> = {}): Promise<AppTerminal> {
    return this.shell({ PROGRAM: CINCH, HOME: this.state, CINCH_OFFLINE_DELAY_MS: "0", ...env });
  }

  async shell(env: Record<string, string>): Promise<AppTerminal> {
    const terminal = new AppTerminal({ ...inherited(), NODE: process.execPath, FOLDER: this.folder, ...env });
    this.#terminals.push(terminal);
    await terminal.run("bind 'set enable-bracketed-paste off'; cd \"$FOLDER\"; echo se''t", /^set$/m);
    return terminal;
  }

  openGate(): void {
    writeFileSync(join(this.folder, "gate"), "");
  }

  write(name: string, contents: string): void {
    writeFileSync(join(this.folder, name), contents);
  }

  has(name: string): boolean {
    return existsSync(join(this.folder, name));
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }

  [Symbol.dispose](): void {
    for (const terminal of this.#terminals) terminal[Symbol.dispose]();
    rmSync(this.#base, { recursive: true, force: true, maxRetries: 9 });
  }
}

export const ENTER = "\r";
export const ESC = "\u001b";
export const ALT_ENTER = "\u001b\r";
export const ALT_UP = "\u001b[1;3A";
export const TAB = "\t";
export const ctrl = (letter: string): string => String.fromCharCode(letter.toUpperCase().charCodeAt(0) - 64);

export class AppTerminal extends PseudoTerminal {
  /** Starts the app in the shell, and waits for its composer, or for what it shows before. */
  async begin(args = "", shown = COMPOSER): Promise<void> {
    await this.run(`"$NODE" "$PROGRAM" ${args}`, shown);
  }

  /** Empties screen and scrollback. Only what is shown from now on can be waited for. */
  async clear(): Promise<void> {
    await this.run("reset; clear; echo cle''ared", /^cleared\nshell\$ ?$/);
  }

  /** Types a text, waits until the composer has it, and sends it. */
  async send(text: string, { by = ENTER }: { by?: string } = {}): Promise<void> {
    await this.compose(text);
    this.type(by);
    await this.until(COMPOSER);
  }

  async compose(text: string): Promise<void> {
    this.type(text);
    await this.until(() => this.composer() === text);
  }

  /** The text of the composer, if it is one row. */
  composer(): string | undefined {
    return /\n─+\n> ?(.*)\n─+\n/.exec(this.screenText())?.[1];
  }

  screenText(): string {
    return `\n${this.rows().join("\n")}\n`;
  }

  /** What is asked takes no Enter in its first moments, a question before the start no key: by the same clock. */
  async untilKeysCount(): Promise<void> {
    await sleep(GUARD_MS + 1);
  }

  /** Waits until the panel has the keys: only then a choice is marked. */
  async untilMarked(choice: string): Promise<void> {
    await this.until(() => this.screenText().includes(`\n› ${choice}`));
  }
}

/** An empty composer between its rules. */
export const COMPOSER = /^─+\n> ?\n─+$/m;
