import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import type { Env } from "../models/providers.ts";
import { line, type Line } from "../terminal/line.ts";
import { waitLine } from "../views/activity.ts";
import { firstLine } from "../views/call-argument.ts";
import { linesIn } from "../views/excerpt.ts";
import { dim, span } from "../views/spans.ts";
import type { ViewContext } from "../views/view.ts";
import type { CommandOutput } from "./ui-state.ts";

/** The end of the output that is kept: what is printed, and what goes with the next message. */
const MAX_KEPT = 30_000;
const LIVE_LINES = 3;

interface UserCommandOptions {
  folder: string;
  env: Env;
  changed: () => void;
}

/** A command that the user runs with `!`, in the folder of the project, with the rights of the user. */
export class UserCommand {
  readonly command: string;
  /** Settles when the command has ended and its output is read. Never rejects. */
  readonly ended: Promise<CommandOutput>;
  readonly #child: ChildProcess;
  #output = "";
  #cut = false;
  #stopped = false;

  constructor(command: string, { folder, env, changed }: UserCommandOptions) {
    this.command = command;
    const shell = process.platform === "win32" ? true : env["SHELL"] || "/bin/sh";
    // A group of its own, so that everything that it started can be stopped.
    this.#child = spawn(command, {
      cwd: folder,
      env,
      shell,
      stdio: ["ignore", "pipe", "pipe"],
      detached: process.platform !== "win32",
    });
    const add = (chunk: string) => {
      this.#output += chunk;
      this.#cut ||= this.#output.length > MAX_KEPT;
      this.#output = this.#output.slice(-MAX_KEPT);
      changed();
    };
    this.#child.stdout!.setEncoding("utf8").on("data", add);
    this.#child.stderr!.setEncoding("utf8").on("data", add);
    this.ended = this.#end(folder);
  }

  /** That it runs, and its last lines. */
  live(context: ViewContext): Line[] {
    const what = [span(`$ ${firstLine(this.command)}`, { bold: true })];
    const last = linesIn(this.#output).slice(-LIVE_LINES);
    return [
      waitLine({ what, since: null }, [span("Esc stops", dim)], context),
      ...last.map((one) => line(`  ${one}`, { dim: true })),
    ];
  }

  /** The second time, without asking. */
  stop(): void {
    const signal = this.#stopped ? "SIGKILL" : "SIGTERM";
    this.#stopped = true;
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(process.platform === "win32" ? pid : -pid, signal);
    } catch {
      // It has ended meanwhile.
    }
  }

  #end(folder: string): Promise<CommandOutput> {
    return new Promise((resolve) => {
      const done = (ending: string | null) =>
        resolve({ command: this.command, output: `${this.#cut ? "…" : ""}${this.#output}`, ending });
      // The error of Node is about the shell, also if the folder is missing.
      this.#child.once("error", ({ message }) =>
        done(existsSync(folder) ? message : `${folder} does not exist any more`),
      );
      this.#child.once("close", (code, signal) => {
        if (this.#stopped) return done("stopped");
        done(code === 0 ? null : (signal ?? `exit ${code}`));
      });
    });
  }
}

/** The output as it is printed. */
export function userCommandLines({ command, output, ending }: CommandOutput): Line[] {
  return [
    line(""),
    { ...line(`$ ${command}`, { bold: true }), wrap: "terminal" },
    ...linesIn(output).map((one): Line => ({ ...line(one), wrap: "terminal" })),
    ...(ending === null ? [] : [line(ending, { color: "red" })]),
  ];
}
