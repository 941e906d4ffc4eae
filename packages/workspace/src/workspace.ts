import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CinchError, type ToolSet, type Workspace, type WorkspaceHost, type WorkspaceStatus } from "@cinch/core";
import type { Backend, Reach } from "./backend.ts";
import { directoryBackend } from "./backends/directory.ts";
import { withPolicy } from "./backends/policy.ts";
import { ruleHooks } from "./path-policy.ts";
import { virtualPath } from "./paths.ts";
import { canHide, pathRules, policyFor, type PathRule } from "./rules.ts";
import type { Sandbox } from "./sandboxes/index.ts";
import type { Protection, Shell } from "./shell.ts";
import { localShell } from "./shells/local.ts";
import { sandboxShell } from "./shells/sandbox.ts";
import { execute } from "./tools/execute.ts";
import { fileTools } from "./tools/index.ts";

export interface WorkspaceOptions {
  backend: Backend;
  /** Path rules. They bind every tool that touches files. */
  permissions?: readonly PathRule[];
  /** Runs commands; without one there is no `execute`. */
  shell?: Shell;
  /** The folder that is the root, if there is one: real paths below it are understood too. */
  root?: string;
}

export interface LocalWorkspaceOptions {
  root: string;
  permissions?: readonly PathRule[];
  /** `auto`: the first that works here. `none`: commands run as ordinary processes, and each of them asks. */
  sandbox?: "auto" | "none" | Sandbox;
  /** Whether what the folder itself says (hooks and settings of git) is obeyed. */
  trusted?: boolean;
}

/** A folder and a shell. */
export function localWorkspace({
  root,
  permissions = [],
  sandbox = "auto",
  trusted = false,
}: LocalWorkspaceOptions): FileWorkspace {
  const shell = sandbox === "none" ? localShell({ root, trusted }) : sandboxShell({ root, sandbox, trusted });
  return createWorkspace({ backend: directoryBackend({ root }), permissions, shell, root });
}

export const createWorkspace = (options: WorkspaceOptions): FileWorkspace => new FileWorkspace(options);

/** What the files and the shell of a workspace make together. */
export class FileWorkspace implements Workspace {
  readonly tools: ToolSet;
  readonly #backend: Backend;
  readonly #shell: Shell | undefined;
  #protection: Protection = { kind: "none", description: "The workspace is not open yet." };
  readonly #outputs = mkdtempSync(join(tmpdir(), "cinch-output-"));

  constructor({ backend, permissions = [], shell, root }: WorkspaceOptions) {
    const rules = pathRules(permissions);
    this.#backend = withPolicy(backend, ruleHooks(rules));
    this.#shell = shell;
    const path = (input: string) => virtualPath(input, root === undefined ? {} : { root });
    const fileRules = {
      policy: (operation: "read" | "write", at: string) => policyFor(rules, operation, at),
      hides: (at: string) => canHide(rules, at),
    };
    const config = { outputs: this.#outputs, protection: () => this.#protection, path };
    this.tools = {
      ...fileTools({ backend: this.#backend, rules: fileRules, path }),
      ...(shell ? { execute: execute({ shell, ...config }) } : {}),
    };
  }

  async open(host: WorkspaceHost): Promise<WorkspaceStatus> {
    await this.#backend.open?.(host);
    if (this.#shell) this.#protection = await this.#shell.protection();
    else this.#protection = { kind: "virtual", description: "There is no shell." };
    const { kind, description } = this.#protection;
    return { protection: kind, description };
  }

  async close(): Promise<void> {
    await this.#shell?.close?.();
    await this.#backend.close?.();
  }

  /** Brings files in from the program. Path rules bind it too. */
  async upload(files: Record<string, string | Uint8Array>, reach: Reach = PROGRAM): Promise<void> {
    for (const [path, content] of Object.entries(files)) {
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      await this.#asCinch(this.#backend.write(virtualPath(path), once(bytes), {}, reach));
    }
  }

  /** Takes files out to the program. */
  async download(paths: readonly string[], reach: Reach = PROGRAM): Promise<Record<string, Uint8Array>> {
    const files: [string, Uint8Array][] = [];
    for (const path of paths) {
      const bytes = await this.#asCinch(whole(this.#backend.read(virtualPath(path), {}, reach)));
      files.push([path, bytes]);
    }
    return Object.fromEntries(files);
  }

  async #asCinch<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof CinchError) throw error;
      throw new CinchError("INVALID_INPUT", error instanceof Error ? error.message : String(error), error);
    }
  }
}

const PROGRAM: Reach = { threadId: "", resourceId: "default" };

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function whole(content: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return new Uint8Array(Buffer.concat(chunks));
}
