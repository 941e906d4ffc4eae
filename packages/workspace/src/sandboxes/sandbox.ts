/** As in `permissions` of a workspace: the first rule that matches decides. Globs begin at the root of the workspace. */
export interface SandboxRule {
  readonly operations: readonly ("read" | "write")[];
  readonly paths: readonly string[];
  readonly mode: "allow" | "ask" | "deny";
}

/** What commands may do. All paths are real. */
export interface SandboxBounds {
  /** The folder of the workspace: the only folder of the user that commands can change. */
  root: string;
  /** Folders of the harness that commands see as their temporary folder and their home. */
  tmp: string;
  home: string;
  /** Hosts that commands can reach. If it is empty, there is no network. */
  hosts: readonly string[];
  /** What commands can read besides the system, the tools and the root. */
  readable: readonly string[];
  /** What commands can't read, even in folders that they can read. */
  hidden: readonly string[];
  /**
   * For files that exist when a command starts: the rules of the workspace, then those of each agent. Each list is judged on its own, and
   * what one of them denies is denied. `ask` means `deny`, since a running command can't wait for an answer.
   */
  rules: readonly (readonly SandboxRule[])[];
}

export interface CommandLine {
  argv: string[];
  env: Record<string, string>;
  cwd: string;
}

export type Probe = { works: true } | { works: false; reason: string };

/** Keeps commands from the machine, by means of the operating system. `wrap` returns the command line to start instead, once. */
export interface Sandbox {
  readonly name: string;
  /** Tries whether the sandbox works on this machine. Runs no program that is in `root`. */
  probe(root?: string): Promise<Probe>;
  /** The protection in one line, for people, with what it does not cover. */
  describe(bounds: Pick<SandboxBounds, "hosts" | "rules">): string;
  /** Whether each command has its own network. Left out: unknown. */
  ownNetwork?(bounds: Pick<SandboxBounds, "hosts">): boolean;
  wrap(line: CommandLine, bounds: SandboxBounds): Promise<CommandLine & { done?: () => void }>;
  close?(): Promise<void>;
}

export function describeSandbox(name: string, network: string, rules: SandboxBounds["rules"]): string {
  const paths = rules.some((list) => list.length > 0)
    ? "; path rules hold for files that are there when a command starts"
    : "";
  return `${name}: changes only in the workspace, home and keys hidden, network ${network}${paths}.`;
}
