import type { Reach } from "./backend.ts";

/** What stands between a command and the machine. */
export interface Protection {
  kind: "none" | "os" | "virtual";
  /** In one line, for people. */
  description: string;
}

export interface Command {
  command: string;
  /** Where it runs: a path of the workspace. */
  cwd: string;
  /** The command is ended after this long. */
  timeoutMs?: number;
  signal?: AbortSignal;
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
  /** Writes to its standard input, if that is open. */
  write(text: string): Promise<void>;
  /** Ends it and everything that it started: TERM, after 500 ms KILL. */
  stop(): Promise<void>;
}

/**
 * Must not hold output back, nor keep it: the sink is called as it comes, and is awaited, so that a slow reader slows the command. It is
 * never called again before that. A sink that throws gets nothing more, and the command is stopped.
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
  /** Asked once, when the workspace is opened. */
  protection(): Promise<Protection>;
  start(command: Command, sink: Sink, options?: StartOptions): Running;
  close?(): Promise<void>;
}
