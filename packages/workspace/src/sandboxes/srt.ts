import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { errorMessage } from "../thrown-error.ts";
import { isProgramIn, pathOutside } from "../processes/host-programs.ts";
import { KERNEL_PROBE, kernelProblem } from "./kernel.ts";
import { masksFor } from "./masks.ts";
import { describeSandbox, type Probe, type Sandbox } from "./sandbox.ts";
import { viewFor } from "./sandbox-view.ts";
import type { SrtPath } from "./srt-host.ts";
import type { SrtClient } from "./srt-client.ts";

const PACKAGE = "@anthropic-ai/sandbox-runtime";
const PROBE_MS = 30_000;
/** sandbox-runtime waits 0.3 s for its relays to the hosts. On a busy machine they start later, and the command would find no network. */
const UNTIL_ONLINE =
  "for port in 3128 1080; do for try in {1..100}; do { true < /dev/tcp/127.0.0.1/$port; } 2>/dev/null && break; sleep 0.05; done; done";

/** sandbox-runtime: bubblewrap with a filter on system calls, and a proxy to the hosts. Commands can't make Unix sockets. */
export function srtSandbox(): Sandbox {
  let client: SrtClient | undefined;
  let probed: Promise<Probe> | undefined;

  const open = async (root?: string): Promise<{ client: SrtClient; folder: string }> => {
    const path = process.env.PATH ?? "";
    // Loaded on demand: it looks for programs that are not needed otherwise.
    client ??= new (await import("./srt-client.ts")).SrtClient(root === undefined ? path : pathOutside(path, root));
    const { bash, bwrap, socat } = client.programs;
    const inside = root !== undefined && [bash, bwrap, socat].find((program) => isProgramIn(program, root));
    if (inside) throw new Error(`${inside} is in the workspace.`);
    return { client, folder: await client.ready() };
  };
  const probe = async (root?: string): Promise<Probe> => {
    if (process.platform !== "linux") return { works: false, reason: `${PACKAGE} is used on Linux only.` };
    if (packageFolder() === undefined)
      return { works: false, reason: `${PACKAGE} is not installed: npm install ${PACKAGE}` };
    try {
      const { client: host, folder } = await open(root);
      const code = await probeCode(host, folder);
      if (code === 0) return { works: true };
      const problem = kernelProblem(code) ?? `a command that does nothing exited with code ${code}.`;
      return { works: false, reason: `${PACKAGE} does not protect here: ${problem}` };
    } catch (error) {
      return { works: false, reason: `${PACKAGE} does not work here: ${errorMessage(error)}` };
    }
  };

  return {
    name: "sandbox-runtime",
    probe: (root) => (probed ??= probe(root)),
    describe({ hosts, rules }) {
      const network = hosts.length > 0 ? `only to ${hosts.join(", ")}` : "off";
      return describeSandbox("sandbox-runtime", `${network}, no local sockets`, rules);
    },
    ownNetwork: () => true,
    async wrap(line, bounds) {
      const { client: host, folder } = await open(bounds.root);
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
      // sandbox-runtime can't mount our folder as the home. Each command gets an empty one in memory.
      const home = view.home ?? tmp;
      const prepare = `export TMPDIR=${quoted(tmp)} HOME=${quoted(home)}; mkdir -p "$HOME" 2>/dev/null`;
      const online = hosts.length > 0 ? `${UNTIL_ONLINE}; ` : "";
      const wrap = `${prepare}; ${online}exec ${line.argv.map(quoted).join(" ")}`;
      const argv = await host.wrap({ key, wrap, hosts, files });
      return { ...line, argv, done: () => host.release(key) };
    },
    async close() {
      await client?.close();
    },
  };
}

/** The exit code of the kernel probe in a sandbox. */
async function probeCode(host: SrtClient, folder: string): Promise<number> {
  const key = newKey();
  const files = { denyRead: [], allowRead: [], allowWrite: [], denyWrite: [] };
  const [program, ...words] = await host.wrap({ key, wrap: KERNEL_PROBE, hosts: [], files });
  try {
    const child = spawn(program!, words, { cwd: folder, stdio: "ignore", timeout: PROBE_MS });
    const [code, signal] = await once(child, "exit");
    if (code === null) throw new Error(`a command that does nothing was ended by ${signal}.`);
    return code as number;
  } finally {
    host.release(key);
  }
}

/** Unguessable, because a process that knows it may reach its hosts. */
const newKey = (): string => randomBytes(16).toString("base64url");

const names = (paths: string[]): SrtPath[] => paths.map((path) => ({ path, literal: true }));

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Commands need to see the programs in it. */
function packageFolder(): string | undefined {
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(PACKAGE))));
  } catch {
    return undefined;
  }
}
