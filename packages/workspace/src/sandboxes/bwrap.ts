import { execFile } from "node:child_process";
import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { liesIn, pathOutside, programOn } from "../processes/host-programs.ts";
import { hide, KERNEL_PROBE, kernelMounts, kernelProblem } from "./kernel.ts";
import { masksFor } from "./masks.ts";
import type { Probe, Sandbox, SandboxBounds } from "./sandbox.ts";
import { Sockets } from "./sockets.ts";
import { isIn, type View, viewFor } from "./view.ts";

const PROBE_MS = 15_000;

/**
 * New namespaces for everything, no capabilities, a process table of its own. It dies with the harness, and is in a session of its own,
 * so that nothing can be typed into a terminal.
 */
const APART = ["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL"];

/** So that nobody in it can make a namespace in which the mounts could be moved away. Older ones don't know it. */
const NO_NAMESPACES = "--disable-userns";

export interface BwrapOptions {
  /** The program, if it is not on PATH. */
  bwrap?: string;
}

/**
 * bubblewrap on its own. A command sees the system, tools and the workspace, and nothing else: no home, no other processes, no sockets
 * of services, not even those that are in the workspace when it starts. The network is off; with hosts it is on as a whole, because it can't tell hosts apart.
 */
export function bwrapSandbox({ bwrap = "bwrap" }: BwrapOptions = {}): Sandbox {
  const probed = new Map<string, Promise<Found>>();
  const sockets = new Sockets();

  const ready = async (root?: string): Promise<Found> => {
    if (process.platform !== "linux") return { works: false, reason: "bubblewrap is for Linux." };
    const path = process.env.PATH ?? "";
    const program = bwrap.includes("/") ? bwrap : programOn(root === undefined ? path : pathOutside(path, root), bwrap);
    if (program === undefined) return NOT_INSTALLED;
    if (root !== undefined && liesIn(program, root)) return { works: false, reason: `${program} is in the workspace.` };
    if (!probed.has(program)) probed.set(program, probe(program));
    return probed.get(program)!;
  };

  return {
    name: "bubblewrap",
    probe: ready,
    describe,
    ownNetwork: ({ hosts }) => hosts.length === 0,
    async wrap(line, bounds) {
      const found = await ready(bounds.root);
      if (!found.works) throw new Error(found.reason);
      const view = viewFor(line, bounds);
      const { unreadable, unwritable } = await masksFor(bounds.root, bounds.rules);
      const listening = await sockets.in(bounds.root);
      const frozen = [...view.frozen, ...unwritable];
      const hidden = [...view.hidden, ...unreadable];
      const mounts = [
        ...system(view, bounds),
        ...pinned([...frozen, ...hidden], bounds.root).flatMap((path) => ["--bind", path, path]),
        ...frozen.flatMap((path) => ["--ro-bind-try", path, path]),
        ...hidden.flatMap(hide),
        ...listening.filter((path) => !hidden.some((one) => isIn(path, one))).flatMap(hide),
        "--remount-ro",
        "/",
      ];
      const network = bounds.hosts.length > 0 ? ["--share-net"] : [];
      return {
        ...line,
        argv: [...found.command, ...network, ...mounts, "--chdir", line.cwd, "--", ...line.argv],
        env: { ...line.env, TMPDIR: "/tmp", HOME: view.home ?? "/tmp" },
      };
    },
  };
}

function describe({ hosts, rules }: Pick<SandboxBounds, "hosts" | "rules">): string {
  const network = hosts.length > 0 ? "on, for every host, because bubblewrap can't tell them apart" : "off";
  const paths = rules.length > 0 ? "; path rules hold for files that are there when a command starts" : "";
  return `bubblewrap: changes only in the workspace, home and keys hidden, network ${network}${paths}.`;
}

const NOT_INSTALLED = { works: false, reason: "bubblewrap is not installed (no bwrap on PATH)." } as const;

/** How it is started, if it works. */
type Found = { works: true; command: string[] } | Extract<Probe, { works: false }>;

async function probe(program: string): Promise<Found> {
  const best = [...APART, NO_NAMESPACES];
  if ((await attempt(program, best)) === undefined) return { works: true, command: [program, ...best] };
  const reason = await attempt(program, APART);
  return reason === undefined ? { works: true, command: [program, ...APART] } : { works: false, reason };
}

const run = promisify(execFile);

/** `undefined`: it works. Otherwise why not. */
async function attempt(bwrap: string, options: string[]): Promise<string | undefined> {
  const mounts = ["--ro-bind", "/", "/", "--proc", "/proc", ...kernelMounts(), "--dev", "/dev"];
  try {
    await run(bwrap, [...options, ...mounts, "--", "/bin/sh", "-c", KERNEL_PROBE], { timeout: PROBE_MS });
    return undefined;
  } catch (error) {
    const { code, stderr, message } = error as { code?: unknown; stderr?: string; message: string };
    if (code === "ENOENT") return NOT_INSTALLED.reason;
    const problem = kernelProblem(code);
    if (problem !== undefined) return `bubblewrap does not protect here: ${problem}`;
    return `bubblewrap does not work here: ${(stderr || message).trim().split("\n")[0]}`;
  }
}

/** From the outside in: what is mounted later covers what was there. */
function system({ home, readable }: View, { root, home: ownHome, tmp, hosts }: SandboxBounds): string[] {
  const mounts = ["--proc", "/proc", "--dir", "/sys", ...kernelMounts(), "--dev", "/dev"];
  mounts.push("--bind", tmp, "/tmp", "--dir", "/run", "--dir", "/var/tmp");
  if (home !== undefined && !isIn(home, root)) mounts.push("--bind", ownHome, home);
  for (const path of readable.toSorted((one, other) => one.length - other.length)) {
    mounts.push(...(isLink(path) ? ["--symlink", readlinkSync(path), path] : ["--ro-bind-try", path, path]));
  }
  if (hosts.length > 0) mounts.push(...resolver());
  return [...mounts, "--bind", root, root];
}

/** The names of hosts are often looked up by a file that is a link to where services keep theirs. */
function resolver(): string[] {
  try {
    const file = realpathSync("/etc/resolv.conf");
    return file.startsWith("/etc/") ? [] : ["--ro-bind-try", file, file];
  } catch {
    return [];
  }
}

const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;

/** A folder that is a mount of its own can't be renamed, so that nothing else can be put in the place of what is in it. */
function pinned(paths: string[], root: string): string[] {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let at = dirname(path); at !== root && isIn(at, root); at = dirname(at)) folders.add(at);
  }
  return [...folders].toSorted((one, other) => one.length - other.length);
}
