import { execFile } from "node:child_process";
import { readlinkSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { checkConfig } from "../config.ts";
import { isLink, realPath } from "../disk/on-disk.ts";
import { isWithin } from "../paths.ts";
import { isProgramIn, pathOutside, programOn } from "../processes/host-programs.ts";
import { hide, KERNEL_PROBE, kernelMounts, kernelProblem } from "./kernel.ts";
import { masksFor } from "./masks.ts";
import { describeSandbox, type Probe, type Sandbox, type SandboxBounds } from "./sandbox.ts";
import { type SandboxView, viewFor } from "./sandbox-view.ts";
import { Sockets } from "./sockets.ts";

const PROBE_MS = 15_000;

/** New namespaces, no capabilities, its own process table and session (no typing into a terminal). It dies with the harness. */
const APART = ["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL"];

/** Prevents a namespace in which a command could move the mounts. Older versions don't have it. */
const NO_NAMESPACES = "--disable-userns";

export interface BwrapOptions {
  /** The program, if it is not on PATH. */
  bwrap?: string;
}

/**
 * Bubblewrap alone. A command sees the system, tools and the workspace; no home, no other processes, and no sockets of services, not even
 * those in the workspace when it starts. The network is off; with hosts all of it is on, because bubblewrap can't tell hosts apart.
 */
export function bwrapSandbox(options: BwrapOptions = {}): Sandbox {
  checkConfig("bwrapSandbox", options);
  const { bwrap = "bwrap" } = options;
  const probed = new Map<string, Promise<ProbedCommand>>();
  const sockets = new Sockets();

  const probeIn = async (root?: string): Promise<ProbedCommand> => {
    if (process.platform !== "linux") return { works: false, reason: "bubblewrap is for Linux." };
    const path = process.env.PATH ?? "";
    const program = bwrap.includes("/") ? bwrap : programOn(root === undefined ? path : pathOutside(path, root), bwrap);
    if (program === undefined) return NOT_INSTALLED;
    if (root !== undefined && isProgramIn(program, root))
      return { works: false, reason: `${program} is in the workspace.` };
    if (!probed.has(program)) probed.set(program, probe(program));
    return probed.get(program)!;
  };

  return {
    name: "bubblewrap",
    probe: probeIn,
    describe({ hosts, rules }) {
      const network = hosts.length > 0 ? "on, for every host, because bubblewrap can't tell them apart" : "off";
      return describeSandbox("bubblewrap", network, rules);
    },
    ownNetwork: ({ hosts }) => hosts.length === 0,
    async wrap(line, bounds) {
      const found = await probeIn(bounds.root);
      if (!found.works) throw new Error(found.reason);
      const view = viewFor(line, bounds);
      const { unreadable, unwritable } = await masksFor(bounds.root, bounds.rules);
      const listening = await sockets.in(bounds.root);
      const frozen = [...view.frozen, ...unwritable];
      const hidden = [...view.hidden, ...unreadable];
      const mounts = [
        ...systemMounts(view, bounds),
        ...foldersAbove([...frozen, ...hidden], bounds.root).flatMap((path) => ["--bind", path, path]),
        ...frozen.flatMap((path) => ["--ro-bind-try", path, path]),
        ...hidden.flatMap(hide),
        ...listening.filter((path) => !hidden.some((one) => isWithin(path, one))).flatMap(hide),
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

const NOT_INSTALLED = { works: false, reason: "bubblewrap is not installed (no bwrap on PATH)." } as const;

type ProbedCommand = { works: true; command: string[] } | Extract<Probe, { works: false }>;

async function probe(program: string): Promise<ProbedCommand> {
  const best = [...APART, NO_NAMESPACES];
  if ((await attempt(program, best)) === undefined) return { works: true, command: [program, ...best] };
  const reason = await attempt(program, APART);
  return reason === undefined ? { works: true, command: [program, ...APART] } : { works: false, reason };
}

const run = promisify(execFile);

/** Why it does not work; `undefined` if it does. */
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

/** From the outside in: a later mount covers an earlier one. */
function systemMounts({ home, readable }: SandboxView, { root, home: ownHome, tmp, hosts }: SandboxBounds): string[] {
  const mounts = ["--proc", "/proc", "--dir", "/sys", ...kernelMounts(), "--dev", "/dev"];
  mounts.push("--bind", tmp, "/tmp", "--dir", "/run", "--dir", "/var/tmp");
  if (home !== undefined && !isWithin(home, root)) mounts.push("--bind", ownHome, home);
  for (const path of readable.toSorted((one, other) => one.length - other.length)) {
    mounts.push(...(isLink(path) ? ["--symlink", readlinkSync(path), path] : ["--ro-bind-try", path, path]));
  }
  // Often a link to a file outside of /etc.
  const resolver = realPath("/etc/resolv.conf");
  if (hosts.length > 0 && resolver && !resolver.startsWith("/etc/")) mounts.push("--ro-bind-try", resolver, resolver);
  return [...mounts, "--bind", root, root];
}

/** A folder that is a mount can't be renamed, so a command can't replace it together with the protected files in it. */
function foldersAbove(paths: string[], root: string): string[] {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let at = dirname(path); at !== root && isWithin(at, root); at = dirname(at)) folders.add(at);
  }
  return [...folders].toSorted((one, other) => one.length - other.length);
}
