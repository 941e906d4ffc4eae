import { randomBytes } from "node:crypto";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { masksFor } from "./masks.ts";
import type { Probe, Sandbox, SandboxBounds } from "./sandbox.ts";
import type { SrtPath } from "./srt-host.ts";
import type { SrtLink } from "./srt-link.ts";
import { viewFor } from "./view.ts";

const PACKAGE = "@anthropic-ai/sandbox-runtime";

/**
 * sandbox-runtime: bubblewrap, with a filter on system calls and a proxy that lets through what goes to the hosts. Sockets of this
 * machine can't be made at all.
 */
export function srtSandbox(): Sandbox {
  let link: SrtLink | undefined;
  let probed: Promise<Probe> | undefined;

  const open = async (): Promise<{ link: SrtLink; folder: string }> => {
    // Only when it is used: it looks for programs that are not needed otherwise.
    link ??= new (await import("./srt-link.ts")).SrtLink();
    return { link, folder: await link.ready() };
  };
  const probe = async (): Promise<Probe> => {
    if (process.platform !== "linux") return { works: false, reason: `${PACKAGE} is used on Linux only.` };
    if (packageFolder() === undefined)
      return { works: false, reason: `${PACKAGE} is not installed: npm install ${PACKAGE}` };
    try {
      await open();
      return { works: true };
    } catch (error) {
      return { works: false, reason: `${PACKAGE} does not work here: ${(error as Error).message}` };
    }
  };

  return {
    name: "sandbox-runtime",
    probe: () => (probed ??= probe()),
    describe,
    ownNetwork: () => true,
    async wrap(line, bounds) {
      const { link: host, folder } = await open();
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
      // Unguessable, because whoever names it may reach its hosts.
      const key = randomBytes(16).toString("base64url");
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
