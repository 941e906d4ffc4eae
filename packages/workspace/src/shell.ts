import type { Reach } from "./backend.ts";
import type { PolicyHooks } from "./backends/policy.ts";
import type { PathRule } from "./path-rules/path-rules.ts";

/** What stands between a command and the machine. */
export interface Protection {
  kind: "none" | "os" | "virtual";
  /** In one line, for people. */
  description: string;
  /** Each command has a network of its own: what one of them serves, no other reaches. */
  ownNetwork?: boolean;
}

/** What a workspace wants to be kept from commands. */
export interface ShellBounds {
  /** Its path rules, for paths as commands have them: those of the shell's root, if it has one. */
  rules: readonly PathRule[];
  /** Real files and folders that are not for commands at all, such as the store of the harness; also ones that are not there yet. */
  hidden: readonly string[];
  /** What is asked before a shell over a backend writes or deletes anything. A shell with a root knows by itself what is frozen. */
  frozen?: PolicyHooks["before"];
}

export interface Command {
  command: string;
  /** Where it runs: a path of the workspace, or below the shell's root, if it has one. */
  cwd: string;
  /** The command is ended after this long. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Whether what the files themselves say is obeyed: settings and hooks of git. */
  trusted?: boolean;
  /** Who acts: for a shell over a backend that keeps files apart by thread or by resource. */
  reach?: Omit<Reach, "signal">;
}

export interface Exit {
  /** `null` if a signal ended it. */
  code: number | null;
  signal: string | null;
  timedOut: boolean;
  durationMs: number;
  /** The command was over, but not everything that it had started; that was ended. */
  leftBehind?: boolean;
}

/** A command that runs. */
export interface Running {
  /** Settles when the command and everything that it started are gone. Never rejects. */
  readonly exit: Promise<Exit>;
  /** Writes to its standard input. Settles when that has taken it; with false if it is not open, or not any more. */
  write(text: string): Promise<boolean>;
  /** Ends it and everything that it started: TERM, after 500 ms KILL. */
  stop(): Promise<void>;
}

/**
 * Takes the output of a command. A shell calls it as output comes and awaits it before it calls it again, so that a slow sink slows the
 * command. A sink that throws gets nothing more, and the command is stopped. The memory of a chunk is used again once the sink has
 * settled: a sink that keeps bytes copies them.
 */
export type Sink = (chunk: Uint8Array, stream: "stdout" | "stderr") => void | Promise<void>;

export interface StartOptions {
  /** Standard input stays open. Otherwise it is empty. */
  interactive?: boolean;
  /** Both streams as one, which is then called stdout: the only way to keep the order in which they were written exactly. */
  combined?: boolean;
}

/** Runs commands. A shell that can't start a command gives an `exit` with code 127 and says why on stderr. */
export interface Shell {
  readonly name: string;
  /** The real folder that is "/" for its commands. Without one, they have the paths of the workspace. */
  readonly root?: string;
  /** The real folder that is the home of its commands. Left out: that of the harness. */
  readonly home?: string;
  /** Called when the workspace is opened, before anything else. A shell that can keep no bounds leaves it out. */
  open?(bounds: ShellBounds): Promise<void>;
  /** Asked once, when the workspace is opened. */
  protection(): Promise<Protection>;
  start(command: Command, sink: Sink, options?: StartOptions): Running;
  close?(): Promise<void>;
}
