import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { CinchError, type ToolContext, type ToolSet } from "@cinch/core";
import type { Workspace, WorkspaceStatus } from "@cinch/core";
import type { PathRule, PathRuleLists, ReaderReach, WorkspaceHost, WorkspaceReader } from "@cinch/core/workspace";
import type { Backend, Reach } from "./backend.ts";
import { directoryBackend } from "./backends/directory.ts";
import { withOwnFolders } from "./backends/own-folders.ts";
import { withPolicy, type PolicyHooks } from "./backends/policy.ts";
import { collect } from "./contents/collect.ts";
import { checkConfig } from "./config.ts";
import { Outputs } from "./outputs/outputs.ts";
import { realPathOf } from "./disk/on-disk.ts";
import { fileError } from "./file-error.ts";
import { FrozenPaths, type FrozenRoot } from "./frozen/index.ts";
import { isWithin, relativeTo, virtualPath } from "./paths.ts";
import { hiddenRules } from "./path-rules/hidden-rules.ts";
import { cacheFolder, makePrivate } from "./private-folder.ts";
import { ruleBoundReader } from "./rule-bound-reader.ts";
import { agentPathRules } from "./path-rules/path-rules.ts";
import { unaskedHooks } from "./path-rules/rule-hooks.ts";
import { fileRules, narrower, pathRules, ruleHooks, withFrozen } from "./path-rules/index.ts";
import type { FileRules, PathRules } from "./path-rules/index.ts";
import type { Sandbox } from "./sandboxes/index.ts";
import type { Protection, Shell } from "./shells/shell.ts";
import { rulesBelow } from "./shells/shell-rules.ts";
import { localShell } from "./shells/local-shell.ts";
import { sandboxShell, type SandboxShellOptions } from "./shells/sandbox-shell.ts";
import { Background, commandTools, type RunningCommand } from "./tools/execute/index.ts";
import { chunksOf, sha256 } from "./contents/saved-contents.ts";
import { fileTools, restrictedTools } from "./tools/index.ts";
import { PathQueue } from "./tools/path-queue.ts";
import { CommandRecords, FileUndo } from "./undo/index.ts";

export interface WorkspaceOptions {
  backend: Backend;
  /** Path rules. They bind every tool that touches files, and commands as far as the shell can enforce them. */
  permissions?: readonly PathRule[];
  /** Runs commands; without one there is no `execute`. */
  shell?: Shell;
  /** The real folder that is the root, if there is one: real paths below it are accepted too. */
  root?: string;
  /**
   * The real folder for whole outputs of commands and for snapshots, which outlive the process and are deleted after a week without use.
   * Default: a private folder among the temporary files.
   */
  cache?: string;
  /** Whether what the files themselves say is obeyed: git settings and hooks, and skills and AGENTS.md that the caller did not list. */
  trusted?: boolean;
  /** Every process that drives threads has the same files: a network file system, or one machine. Needed beside a `placement`. */
  shared?: boolean;
}

export interface LocalWorkspaceOptions
  extends
    Omit<SandboxShellOptions, "sandbox" | "permissions">,
    Pick<WorkspaceOptions, "permissions" | "cache" | "shared"> {
  /** `auto`: the first that works here. `none`: commands run as ordinary processes, and each one asks. */
  sandbox?: "auto" | "none" | Sandbox;
}

/** A folder and a shell. */
export function localWorkspace(options: LocalWorkspaceOptions): FileWorkspace {
  checkConfig("localWorkspace", options);
  const { sandbox = "auto", hosts = [], readable = [], hidden = [], env = {}, ...rest } = options;
  const { root, trusted = false } = rest;
  const common = { root, trusted, env };
  const shell = sandbox === "none" ? localShell(common) : sandboxShell({ ...common, sandbox, hosts, readable, hidden });
  return createWorkspace({ backend: directoryBackend({ root }), shell, ...rest });
}

export const createWorkspace = (options: WorkspaceOptions): FileWorkspace => new FileWorkspace(options);

/** The files and the shell of a workspace, and the tools on top of them. */
export class FileWorkspace implements Workspace {
  readonly tools: ToolSet;
  /** Whether what the files themselves say is obeyed. */
  readonly trusted: boolean;
  /** Its files are on this machine alone, as far as is known. */
  readonly isLocal: boolean;
  readonly #root: string | undefined;
  #openings = 0;
  /** Without rules. */
  readonly #all: Backend;
  readonly #backend: Backend;
  readonly #shell: Shell | undefined;
  readonly #outputs: Outputs;
  readonly undo: FileUndo;
  readonly #background: Background;
  readonly #snapshots: string;
  readonly #permissions: readonly PathRule[];
  readonly #frozen: FrozenPaths;
  /** Binds the agent only. The program may write frozen files. */
  readonly #isFrozen: NonNullable<PolicyHooks["before"]>;
  /** Real files of the stores and caches, of every harness that has opened this workspace. No tool may touch them. */
  readonly #secret = new Set<string>();
  /** The configured rules and, once the workspace is open, those for the secret files. */
  readonly #rules: PathRules;
  /** The rules for the secret files alone: a revert is the user's act, which the configured rules don't bind. */
  readonly #hidden: { lists: PathRules["lists"] } = { ...pathRules([]) };
  #protection: Protection = { kind: "none", description: "The workspace is not open yet." };
  /** The workspace path of the shell's root. */
  #shellAt = "/";
  /** Whether commands keep path rules of their own. */
  #keepsPathRules = false;

  constructor(options: WorkspaceOptions) {
    checkConfig("createWorkspace", options);
    const { backend, permissions = [], shell, root, cache, trusted = false, shared = false } = options;
    this.trusted = trusted;
    this.isLocal = !shared && ((root ?? shell?.root) !== undefined || (backend.isLocal ?? false));
    this.#root = root;
    this.#permissions = permissions;
    this.#rules = narrower(pathRules(permissions), this.#hidden);
    this.#outputs = new Outputs(cacheFolder("output", cache));
    this.#background = new Background(this.#outputs);
    this.#snapshots = cacheFolder("undo", cache);
    this.#frozen = new FrozenPaths({ permissions, trusted });
    this.#isFrozen = (access, reach) => this.#frozen.refusalIn(backend, access, reach);
    const all = withOwnFolders(backend, this.#outputs);
    this.#all = all;
    this.#backend = withPolicy(all, ruleHooks(this.#rules));
    this.#shell = shell;
    const real = root ?? shell?.root;
    this.undo = new FileUndo(withPolicy(backend, ruleHooks(this.#hidden)), {
      folder: this.#snapshots,
      of: resolve(real ?? "/"),
      records: new CommandRecords(RUNNING, real === undefined ? undefined : resolve(real)),
    });
    const path = (input: string) => this.#path(input);
    const commands = {
      background: this.#background,
      protection: () => this.#protection,
      trusted,
      path: (input: string) => this.#shellPath(path(input)),
      watch: ({ threadId, files, signal }: ToolContext) => this.undo.watch({ threadId, files }, signal),
      accompany: (threadId: string) => this.undo.accompany(threadId),
      keepsPathRules: () => this.#keepsPathRules,
      shellRules: (lists: PathRuleLists) => lists.map((list) => rulesBelow(list, this.#shellAt)),
    };
    const queue = new PathQueue();
    const toolsUnder = (agents: PathRules): ToolSet => {
      const under = narrower(this.#rules, agents);
      return fileTools({
        backend: withPolicy(all, withFrozen(ruleHooks(under), this.#isFrozen)),
        rules: this.#fileRules(under),
        path,
        wrote: (...what) => this.undo.ledger.note(...what),
        queue,
      });
    };
    this.tools = { ...restrictedTools(toolsUnder), ...(shell ? commandTools({ shell, ...commands }) : {}) };
  }

  /** With the reason if a file is frozen. */
  #fileRules(rules: PathRules): FileRules {
    const all = fileRules(rules);
    return {
      ...all,
      policy: (operation, path) => {
        const refusal = operation === "write" ? this.#frozen.refusal(path) : undefined;
        if (refusal !== undefined) throw fileError("denied", path, refusal);
        return all.policy(operation, path);
      },
    };
  }

  /** Throws `INVALID_CONFIG`. */
  checkPathRules(rules: readonly PathRule[]): void {
    pathRules(rules);
  }

  async open(host: WorkspaceHost): Promise<WorkspaceStatus> {
    await checkRoot(this.#root);
    this.#openings++;
    await this.#backend.open?.(host);
    this.#background.open(host);
    await this.#outputs.tidy();
    const own = [this.#outputs.directory, this.#snapshots, RUNNING];
    for (const path of [...host.storeFiles, ...own]) this.#secret.add(path);
    const hidden = [...this.#secret];
    // Before an agent can create something of that name.
    for (const path of own) if ((await this.#placesOf(path)).length > 0) await makePrivate(path).catch(() => {});
    this.#hidden.lists = pathRules(await hiddenRules(this.#backend, hidden)).lists;
    this.#frozen.roots = await this.#realRoots();
    this.#protection = this.#shell
      ? await this.#protect(this.#shell, hidden)
      : { kind: "virtual", description: "There is no shell." };
    const { kind, description } = this.#protection;
    return { protection: kind, description };
  }

  /** Gives the shell the bounds that it has to enforce. The description says if it can't. */
  async #protect(shell: Shell, hidden: readonly string[]): Promise<Protection> {
    const places = shell.root === undefined ? ["/"] : await this.#placesOf(shell.root);
    // For a folder that is not in the workspace, or is there twice, it is unclear which rules apply.
    const known = places.length === 1;
    this.#shellAt = known ? places[0]! : "/";
    const rules = known ? rulesBelow(this.#permissions, this.#shellAt) : [];
    await shell.open?.({ rules, hidden, frozen: this.#isFrozen });
    const protection = await shell.protection();
    this.#keepsPathRules = known && protection.rulesPerCommand === true;
    const kept = known && shell.open !== undefined && protection.kind !== "none";
    if (kept || this.#permissions.length === 0) return protection;
    return { ...protection, description: `${protection.description} Path rules do not cover commands.` };
  }

  /** The real folders with a known path in the workspace. */
  async #realRoots(): Promise<FrozenRoot[]> {
    const folders = new Set([this.#root, this.#shell?.root].filter((folder) => folder !== undefined));
    const home = await realPathOf(this.#shell?.home ?? homedir());
    const roots = [...folders].map(async (folder) => {
      const [root, places] = await Promise.all([realPathOf(folder), this.#placesOf(folder)]);
      return places.map((at) => ({ root, home, at }));
    });
    return (await Promise.all(roots)).flat();
  }

  async #placesOf(real: string): Promise<string[]> {
    return (await this.#backend.whereIs?.(real)) ?? [];
  }

  /** A workspace path as commands see it. */
  #shellPath(path: string): string {
    return isWithin(path, this.#shellAt) ? `/${relativeTo(this.#shellAt, path)}` : path;
  }

  endCommands(threadId: string): Promise<void> {
    return this.#background.end(threadId);
  }

  /** The commands that run in the background, of all threads, oldest first. */
  backgroundCommands(): RunningCommand[] {
    return this.#background.running();
  }

  /** Settles when the command has ended. An unknown one is ignored. */
  stopCommand({ threadId, id }: { threadId: string; id: string }): Promise<void> {
    return this.#background.stop({ threadId, id });
  }

  /** Several harnesses may share a workspace: the last one closes it. */
  async close(): Promise<void> {
    if (--this.#openings > 0) return;
    await this.#background.end();
    await this.#shell?.close?.();
    await this.undo.close();
    await this.#backend.close?.();
  }

  /** Writes files of the program into the workspace. Path rules bind it too. */
  async upload(files: Record<string, string | Uint8Array>, reach: Reach = PROGRAM): Promise<void> {
    for (const [path, bytes] of uploaded(files)) {
      const at = this.#path(path);
      await this.#backend.write(at, chunksOf(bytes), {}, reach);
      this.undo.ledger.note(at, sha256(bytes));
    }
  }

  /** Reads files for the program. */
  async download(paths: readonly string[], reach: Reach = PROGRAM): Promise<Record<string, Uint8Array>> {
    if (!Array.isArray(paths))
      throw new CinchError("INVALID_INPUT", 'download takes a list of paths, such as ["/a.txt"].');
    const files: [string, Uint8Array][] = [];
    for (const path of paths as readonly string[]) {
      files.push([path, new Uint8Array(await collect(this.#backend.read(this.#path(path), {}, reach)))]);
    }
    return Object.fromEntries(files);
  }

  /** Reads files for context sources of a thread. */
  reader({ threadId, files, signal, pathRules: agents }: ReaderReach): WorkspaceReader {
    const rules = narrower(this.#rules, agentPathRules(agents));
    const backend = withPolicy(this.#all, unaskedHooks(rules));
    const from = { backend, path: (input: string) => this.#path(input) };
    const reach: Reach = { threadId, resourceId: files.resourceId, files };
    return ruleBoundReader(from, signal ? { ...reach, signal } : reach);
  }

  /** Accepts workspace paths, and real paths below the root. */
  #path(input: string): string {
    return virtualPath(input, { root: this.#root });
  }
}

/** The files as bytes, before the first of them is written. */
function uploaded(files: Record<string, string | Uint8Array>): [path: string, bytes: Uint8Array][] {
  if (typeof files !== "object" || files === null || Array.isArray(files))
    throw new CinchError("INVALID_INPUT", 'upload takes an object of files, such as { "/a.txt": "text" }.');
  return Object.entries(files).map(([path, content]) => {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    if (bytes instanceof Uint8Array) return [path, bytes];
    throw new CinchError("INVALID_INPUT", `upload: the content of ${path} must be a text or bytes (a Uint8Array).`);
  });
}

async function checkRoot(root: string | undefined): Promise<void> {
  if (root === undefined || (await stat(root).catch(() => null))?.isDirectory()) return;
  throw new CinchError(
    "INVALID_CONFIG",
    `The root of the workspace, ${root}, is not a folder. Create it, or give another one.`,
  );
}

/** Shared by all workspaces, wherever their caches are, so that they know of each other's commands. */
const RUNNING = cacheFolder("running");

const PROGRAM: Reach = { threadId: "", resourceId: "default" };
