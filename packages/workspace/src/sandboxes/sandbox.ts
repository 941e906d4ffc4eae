/** As in `permissions` of a workspace: of the rules that fit, the first decides. Globs begin at the root of the workspace. */
export interface SandboxRule {
  readonly operations: readonly ("read" | "write")[];
  readonly paths: readonly string[];
  readonly mode: "allow" | "ask" | "deny";
}

/** What commands may do. All paths are real ones. */
export interface SandboxBounds {
  /** The folder of the workspace: the only one of the user's that can be changed. */
  root: string;
  /** Folders of our own, for what commands keep in their temporary and their home folder. */
  tmp: string;
  home: string;
  /** Which hosts can be reached; empty: none. */
  hosts: readonly string[];
  /** What can be read besides the system, the tools and the root. */
  readable: readonly string[];
  /** What can't be read, even if it is inside of the rest. */
  hidden: readonly string[];
  /** For files that are there when a command starts. What a rule asks about is denied, since nobody can be asked in the middle. */
  rules: readonly SandboxRule[];
}

/** What is started. */
export interface CommandLine {
  argv: string[];
  env: Record<string, string>;
  cwd: string;
}

export type Probe = { works: true } | { works: false; reason: string };

/**
 * Keeps commands from the machine, by means of the operating system. `wrap` gives what to start in place of a command line; it may be
 * started once. The network is off unless there are hosts.
 */
export interface Sandbox {
  readonly name: string;
  /** Whether it works on this machine, tried for real. No program that lies in `root` is run for it. */
  probe(root?: string): Promise<Probe>;
  /** What is in force, in one line, for people. It says also what can't be kept. */
  describe(bounds: Pick<SandboxBounds, "hosts" | "rules">): string;
  /** Whether each command has a network of its own. Left out: nothing is said of it. */
  ownNetwork?(bounds: Pick<SandboxBounds, "hosts">): boolean;
  wrap(line: CommandLine, bounds: SandboxBounds): Promise<CommandLine & { done?: () => void }>;
  close?(): Promise<void>;
}
