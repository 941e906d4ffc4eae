import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { liesIn, pathOutside } from "../processes/host-programs.ts";
import { KERNEL_PROBE, kernelProblem } from "./kernel.ts";
import { masksFor } from "./masks.ts";
import type { Probe, Sandbox, SandboxBounds } from "./sandbox.ts";
import type { SrtPath } from "./srt-host.ts";
import type { SrtLink } from "./srt-link.ts";
import { viewFor } from "./view.ts";

const PACKAGE = "@anthropic-ai/sandbox-runtime";
const PROBE_MS = 30_000;

/**
 * sandbox-runtime: bubblewrap, with a filter on system calls and a proxy that lets through what goes to the hosts. Sockets of this
 * machine can't be made at all.
 */
export function srtSandbox(): Sandbox {
  let link: SrtLink | undefined;
  let probed: Promise<Probe> | undefined;

  const open = async (root?: string): Promise<{ link: SrtLink; folder: string }> => {
    const path = process.env.PATH ?? "";
    // Only when it is used: it looks for programs that are not needed otherwise.
    link ??= new (await import("./srt-link.ts")).SrtLink(root === undefined ? path : pathOutside(path, root));
    const { bash, bwrap, socat } = link.programs;
    const inside = root !== undefined && [bash, bwrap, socat].find((program) => liesIn(program, root));
    if (inside) throw new Error(`${inside} is in the workspace.`);
    return { link, folder: await link.ready() };
  };
  const probe = async (root?: string): Promise<Probe> => {
    if (process.platform !== "linux") return { works: false, reason: `${PACKAGE} is used on Linux only.` };
    if (packageFolder() === undefined)
      return { works: false, reason: `${PACKAGE} is not installed: npm install ${PACKAGE}` };
    try {
      const { link: host, folder } = await open(root);
      const code = await probeCode(host, folder);
      if (code === 0) return { works: true };
      const problem = kernelProblem(code) ?? `a command that does nothing ended with code ${code}.`;
      return { works: false, reason: `${PACKAGE} does not protect here: ${problem}` };
    } catch (error) {
      return { works: false, reason: `${PACKAGE} does not work here: ${(error as Error).message}` };
    }
  };

  return {
    name: "sandbox-runtime",
    probe: (root) => (probed ??= probe(root)),
    describe,
    ownNetwork: () => true,
    async wrap(line, bounds) {
      const { link: host, folder } = await open(bounds.root);
      const { root, tmp, hosts } = bounds;
      const view = viewFor(line, bounds);
      const { unreadable, unwritable } = await masksFor(root, bounds.rules);
      const own = [root, tmp];
      const files = {
        denyRead: names(["/", ...view.hidden, ...unreadable]),
        allowRead: names([...own, ...view.readable, folder, packageFolder()!]),
        allowWrite: names(own),
        denyWrite: names([...view.frozen, ...unwritable, "/tmp/claude"]),
      };
      const key = newKey();
      // It can't put a folder of ours in the place of the home: there is an empty one in memory, for each command anew.
      const home = view.home ?? tmp;
      const prepare = `export TMPDIR=${quoted(tmp)} HOME=${quoted(home)}; mkdir -p "$HOME" 2>/dev/null`;
      const wrap = `${prepare}; exec ${line.argv.map(quoted).join(" ")}`;
      const argv = await host.wrap({ key, wrap, hosts, files });
      return { ...line, argv, done: () => host.over(key) };
    },
    async close() {
      await link?.close();
    },
  };
}

function describe({ hosts, rules }: Pick<SandboxBounds, "hosts" | "rules">): string {
  const network = hosts.length > 0 ? `only to ${hosts.join(", ")}` : "off";
  const paths = rules.length > 0 ? "; path rules hold for files that are there when a command starts" : "";
  return `sandbox-runtime: changes only in the workspace, home and keys hidden, network ${network}, no local sockets${paths}.`;
}

/** How the script ends that looks at the kernel's files, in a sandbox of its own. */
async function probeCode(host: SrtLink, folder: string): Promise<number> {
  const key = newKey();
  const files = { denyRead: [], allowRead: [], allowWrite: [], denyWrite: [] };
  const [program, ...words] = await host.wrap({ key, wrap: KERNEL_PROBE, hosts: [], files });
  try {
    const child = spawn(program!, words, { cwd: folder, stdio: "ignore", timeout: PROBE_MS });
    const [code, signal] = await once(child, "exit");
    if (code === null) throw new Error(`a command that does nothing was ended by ${signal}.`);
    return code as number;
  } finally {
    host.over(key);
  }
}

/** Unguessable, because a process that names it may reach its hosts. */
const newKey = (): string => randomBytes(16).toString("base64url");

const names = (paths: string[]): SrtPath[] => paths.map((path) => ({ path, literal: true }));

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Its programs have to be there for a command. */
function packageFolder(): string | undefined {
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(PACKAGE))));
  } catch {
    return undefined;
  }
}
