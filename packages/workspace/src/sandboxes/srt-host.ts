import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { SandboxManager } from "@anthropic-ai/sandbox-runtime";
import { kernelMounts } from "./kernel.ts";

/**
 * A program of its own for sandbox-runtime, which keeps everything in globals, takes over signals, leaves files in the folder that it is
 * started in, and has helpers that would outlive a harness which is killed. Here it is in nobody's way, and ends with its standard input.
 */
export type SrtRequest =
  | { id: number; key: string; wrap: string; hosts: readonly string[]; files: SrtFiles }
  /** The command with this key is over. */
  | { key: string };

export interface SrtFiles {
  denyRead: SrtPath[];
  allowRead: SrtPath[];
  allowWrite: SrtPath[];
  denyWrite: SrtPath[];
}

/** By their full paths: what is looked for by name may be found in a folder that commands can write to. */
export interface SrtPrograms {
  bash: string;
  bwrap: string;
  socat: string;
  rg: string;
}

/** Never a pattern. */
export interface SrtPath {
  path: string;
  literal: true;
}

/** Id 0: whether it works at all. */
export type SrtAnswer = { id: number; argv: string[] } | { id: number; error: string };

const answer = (line: SrtAnswer) => process.stdout.write(`${JSON.stringify(line)}\n`);
const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

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
    answer({ id, error: reason(error) });
  }
}

// A harness that is gone does not listen, and there is still something to tidy up.
process.stdout.on("error", () => {});

/**
 * sandbox-runtime mounts `/proc` last, and has no way to add anything after it. So it gets a program in the place of bubblewrap that
 * adds it at the end of the options.
 */
function bwrapWith(mounts: string[]): string {
  const program = join(process.cwd(), "bwrap");
  const script = `#!${programs.bash}
for ((n = 1; n <= $#; n++)); do [[ \${!n} == -- ]] && break; done
exec ${programs.bwrap} "\${@:1:n-1}" ${mounts.join(" ")} "\${@:n}"
`;
  writeFileSync(program, script, { mode: 0o700 });
  return program;
}

const programs = JSON.parse(process.argv[2]!) as SrtPrograms;
try {
  await SandboxManager.initialize({
    network: { allowedDomains: [], deniedDomains: [] },
    filesystem: { denyRead: [], allowWrite: [], denyWrite: [] },
    ripgrep: { command: programs.rg },
    bwrapPath: bwrapWith(kernelMounts({ capable: true })),
    socatPath: programs.socat,
  });
  answer({ id: 0, argv: [] });
  const handled: Promise<void>[] = [];
  for await (const line of createInterface({ input: process.stdin })) handled.push(handle(JSON.parse(line)));
  await Promise.all(handled);
} catch (error) {
  answer({ id: 0, error: reason(error) });
}
await SandboxManager.reset();
rmSync(process.cwd(), { recursive: true, force: true });
process.exit();
