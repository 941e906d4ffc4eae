import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { SandboxManager } from "@anthropic-ai/sandbox-runtime";
import { errorMessage } from "../thrown-error.ts";
import { kernelMounts } from "./kernel.ts";

/**
 * A program for sandbox-runtime, because that keeps its state in globals, handles signals, leaves files in its working folder, and has
 * helpers that would outlive a harness that is killed. The program ends with its standard input. It imports none of our packages: they are
 * not built in a clone, where the program runs from its source.
 */
export type SrtRequest =
  | { id: number; key: string; wrap: string; hosts: readonly string[]; files: SrtFiles }
  /** The command with this key has ended. */
  | { key: string };

type SrtFiles = Record<"denyRead" | "allowRead" | "allowWrite" | "denyWrite", SrtPath[]>;

/** Full paths: a program that is looked up by name may be in a folder that commands can write to. */
export type SrtPrograms = Record<"bash" | "bwrap" | "socat" | "rg", string>;

/** `literal`: not a pattern. */
export type SrtPath = { path: string; literal: true };

/** Id 0: whether sandbox-runtime works at all. */
export type SrtAnswer = { id: number; argv: string[] } | { id: number; error: string };

const answer = (line: SrtAnswer) => process.stdout.write(`${JSON.stringify(line)}\n`);

async function handle(request: SrtRequest): Promise<void> {
  const { key } = request;
  if (!("wrap" in request)) {
    SandboxManager.unregisterCommandNetworkLists(key);
    SandboxManager.cleanupAfterCommand();
    return;
  }
  const { id, wrap, hosts, files } = request;
  try {
    const options = { commandId: key };
    const policy = { filesystem: files };
    const { argv } = await SandboxManager.wrapWithSandboxArgv(wrap, "bash", policy, undefined, undefined, options);
    if (hosts.length > 0) SandboxManager.registerCommandNetworkLists(key, { allowedDomains: [...hosts] });
    answer({ id, argv: [programs.bash, ...argv.slice(1)] });
  } catch (error) {
    answer({ id, error: errorMessage(error) });
  }
}

// After the end of the harness nothing reads the answers, and this program still has to clean up.
process.stdout.on("error", () => {});

/** sandbox-runtime mounts `/proc` last. So it gets a program instead of bubblewrap that adds these mounts after all others. */
function bwrapWith(mounts: string[]): string {
  const program = join(process.cwd(), "bwrap");
  const script = `#!${programs.bash}
for ((n = 1; n <= $#; n++)); do [[ \${!n} == -- ]] && break; done
exec ${programs.bwrap} "\${@:1:n-1}" ${mounts.join(" ")} "\${@:n}"
`;
  writeFileSync(program, script, { mode: 0o700 });
  return program;
}

/** sandbox-runtime gives its helpers about a second to start, which on a busy machine is not always enough. */
async function initialize(triesLeft = 3): Promise<void> {
  try {
    await SandboxManager.initialize({
      network: { allowedDomains: [], deniedDomains: [] },
      filesystem: { denyRead: [], allowWrite: [], denyWrite: [] },
      ripgrep: { command: programs.rg },
      bwrapPath: bwrapWith(kernelMounts({ capable: true })),
      socatPath: programs.socat,
    });
  } catch (error) {
    if (triesLeft === 1) throw error;
    await SandboxManager.reset();
    await initialize(triesLeft - 1);
  }
}

const programs = JSON.parse(process.argv[2]!) as SrtPrograms;
try {
  await initialize();
  answer({ id: 0, argv: [] });
  const handled: Promise<void>[] = [];
  for await (const line of createInterface({ input: process.stdin })) handled.push(handle(JSON.parse(line)));
  await Promise.all(handled);
} catch (error) {
  answer({ id: 0, error: errorMessage(error) });
}
await SandboxManager.reset();
rmSync(process.cwd(), { recursive: true, force: true });
process.exit();
