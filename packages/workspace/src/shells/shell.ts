import type { Reach } from "../backend.ts";
import type { PolicyHooks } from "../backends/policy.ts";
import type { PathRule, PathRuleLists } from "@cinch/core/workspace";

/** What stands between commands and the machine. */
export interface Protection {
  kind: "none" | "os" | "virtual";
  /** In one line, for people. */
  description: string;
  /** Each command has its own network: no other command reaches a server in it. */
  ownNetwork?: boolean;
  /** The shell keeps the `rules` of each command. Otherwise it gets no command of an agent that has path rules. */
  rulesPerCommand?: boolean;
}

/** What commands must not touch. */
export interface ShellBounds {
  /** Path rules, for paths below the root of the shell, if it has one. */
  rules: readonly PathRule[];
  /** Real files and folders that commands must not reach, such as the store. They may not exist yet. */
  hidden: readonly string[];
  /** For a shell over a backend: called before it writes or deletes a file. A shell with a root finds frozen files itself. */
  frozen?: PolicyHooks["before"];
}

export interface ShellCommand {
  command: string;
  /** The folder it runs in: a path of the workspace, or below the root of the shell, if it has one. */
  cwd: string;
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Whether git obeys the settings and hooks of repositories. */
  trusted?: boolean;
  /** The path rules of the agents for which it runs, besides those of the bounds. What one of the lists denies, or asks for, is denied. */
  rules?: PathRuleLists;
  /** The thread and resource, for a shell over a backend with files for each of them. */
  reach?: Omit<Reach, "signal">;
}

export interface CommandExit {
  /** `null` if a signal ended it. */
  code: number | null;
  signal: string | null;
  timedOut: boolean;
  durationMs: number;
  /** The command left processes running, which were ended. */
  leftBehind?: boolean;
}

/** A command that runs. */
export interface Running {
  /** Settles when the command and everything that it started are gone. Never rejects. */
  readonly exit: Promise<CommandExit>;
  /** Writes to the standard input. Settles with true when the text was read, with false if the input is closed. */
  write(text: string): Promise<boolean>;
  /** Ends the command and everything that it started: TERM, after 500 ms KILL. */
  stop(): Promise<void>;
}

/**
 * Receives the output of a command. A shell awaits each call before the next, so a slow sink slows the command. A sink that throws gets
 * nothing more, and the command is stopped. The memory of a chunk is reused after the sink has settled: a sink that keeps bytes must copy
 * them.
 */
export type Sink = (chunk: Uint8Array, stream: "stdout" | "stderr") => void | Promise<void>;

export interface StartOptions {
  /** Standard input stays open. Otherwise it is empty. */
  interactive?: boolean;
  /** Both streams as one, called stdout. Only this keeps the exact order of the two. */
  combined?: boolean;
}

/** Runs commands. If a command can't be started, its exit code is 127 and stderr says why. */
export interface Shell {
  readonly name: string;
  /** The real folder that is "/" for commands. Without one, they have the paths of the workspace. */
  readonly root?: string;
  /** The real home folder of commands. Left out: that of the harness. */
  readonly home?: string;
  /** Called first, when the workspace is opened. A shell that can't enforce bounds leaves it out. */
  open?(bounds: ShellBounds): Promise<void>;
  /** Called once, when the workspace is opened. */
  protection(): Promise<Protection>;
  start(command: ShellCommand, sink: Sink, options?: StartOptions): Running;
  close?(): Promise<void>;
}
