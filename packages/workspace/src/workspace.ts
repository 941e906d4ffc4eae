import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import {
  CinchError,
  type ToolContext,
  type ToolSet,
  type Workspace,
  type WorkspaceHost,
  type WorkspaceStatus,
} from "@cinch/core";
import type { Backend, Reach } from "./backend.ts";
import { Background } from "./background.ts";
import { directoryBackend } from "./backends/directory.ts";
import { withOutputs } from "./backends/outputs.ts";
import { withPolicy, type PolicyHooks } from "./backends/policy.ts";
import { checkConfig } from "./config.ts";
import { Outputs } from "./outputs.ts";
import { realPathOf } from "./disk/real-path.ts";
import { fileError } from "./file-error.ts";
import { FrozenPaths, type FrozenRoot } from "./frozen/index.ts";
import { ruleHooks, withFrozen } from "./path-rules/rule-hooks.ts";
import { isWithin, relativeTo, virtualPath } from "./paths.ts";
import { hiddenRules } from "./private-files.ts";
import { cacheFolder, makePrivate } from "./private-folder.ts";
import { canHide, narrower, pathRules, policyFor, type PathRule, type PathRules } from "./path-rules/path-rules.ts";
import type { Sandbox } from "./sandboxes/index.ts";
import type { Protection, Shell } from "./shell.ts";
import type { Additions } from "./shells/environment.ts";
import { rulesBelow } from "./shell-rules.ts";
import { localShell } from "./shells/local.ts";
import { sandboxShell } from "./shells/sandbox.ts";
import { commandTools } from "./tools/commands.ts";
import { sha256 } from "./tools/change/saved-contents.ts";
import { fileTools } from "./tools/index.ts";
import { FileUndo, Runs } from "./undo/index.ts";

export interface WorkspaceOptions {
  backend: Backend;
  /** Path rules. They bind every tool that touches files, and commands as far as the shell can keep them. */
  permissions?: readonly PathRule[];
  /** Runs commands; without one there is no `execute`. */
  shell?: Shell;
  /** The folder that is the root, if there is one: real paths below it are understood too. */
  root?: string;
  /**
   * The real folder for what has to outlive the process, and goes when it was not used for a week: whole outputs of commands, and what
   * files were before them. By default among temporary files, for this user alone.
   */
  cache?: string;
  /** Whether what the files themselves say is obeyed: settings and hooks of git. */
  trusted?: boolean;
}

export interface LocalWorkspaceOptions {
  root: string;
  permissions?: readonly PathRule[];
  /** `auto`: the first that works here. `none`: commands run as ordinary processes, and each of them asks. */
  sandbox?: "auto" | "none" | Sandbox;
  /** Whether what the folder itself says (hooks and settings of git) is obeyed. */
  trusted?: boolean;
  /** Hosts that commands in a sandbox may reach. Without any they have no network. */
  hosts?: readonly string[];
  /** Real files and folders outside of the root that commands in a sandbox may read. */
  readable?: readonly string[];
  /** Real files and folders that commands in a sandbox may not read, even where they lie inside of the root. */
  hidden?: readonly string[];
  /** What commands get in addition to the few variables of the harness that are no secrets. */
  env?: Additions;
  /** As in `createWorkspace`. */
  cache?: string;
}

/** A folder and a shell. */
export function localWorkspace(options: LocalWorkspaceOptions): FileWorkspace {
  checkConfig("localWorkspace", options);
  const {
    root,
    sandbox = "auto",
    trusted = false,
    hosts = [],
    readable = [],
    hidden = [],
    env = {},
    ...rest
  } = options;
  const common = { root, trusted, env };
  const shell = sandbox === "none" ? localShell(common) : sandboxShell({ ...common, sandbox, hosts, readable, hidden });
  return createWorkspace({ backend: directoryBackend({ root }), shell, root, trusted, ...rest });
}

export const createWorkspace = (options: WorkspaceOptions): FileWorkspace => new FileWorkspace(options);

/** What the files and the shell of a workspace make together. */
export class FileWorkspace implements Workspace {
  readonly tools: ToolSet;
  /** Whether what the files themselves say is obeyed. */
  readonly trusted: boolean;
  readonly #root: string | undefined;
  #openings = 0;
  readonly #backend: Backend;
  readonly #shell: Shell | undefined;
  readonly #outputs: Outputs;
  readonly undo: FileUndo;
  readonly #background: Background;
  readonly #pictures: string;
  readonly #permissions: readonly PathRule[];
  readonly #frozen: FrozenPaths;
  /** For what the agent does. The program may write what it likes. */
  readonly #isFrozen: NonNullable<PolicyHooks["before"]>;
  /** Real files that are nobody's business: of every harness that has opened this. */
  readonly #secret = new Set<string>();
  /** With those for what is hidden, which is known when the workspace is open. */
  readonly #rules: { lists: PathRules["lists"] };
  /** Those alone: for taking back, which is the user's own doing. */
  readonly #hidden: { lists: PathRules["lists"] } = { ...pathRules([]) };
  #protection: Protection = { kind: "none", description: "The workspace is not open yet." };
  /** Where in the workspace the root of the shell is. */
  #shellAt = "/";

  constructor(options: WorkspaceOptions) {
    checkConfig("createWorkspace", options);
    const { backend, permissions = [], shell, root, cache, trusted = false } = options;
    this.trusted = trusted;
    this.#root = root;
    const rules = pathRules(permissions);
    this.#permissions = permissions;
    this.#rules = { ...rules };
    this.#outputs = new Outputs(cacheFolder("output", cache));
    this.#background = new Background(this.#outputs);
    this.#pictures = cacheFolder("undo", cache);
    this.#frozen = new FrozenPaths({ permissions, trusted });
    this.#isFrozen = (access, reach) => this.#frozen.refusalIn(backend, access, reach);
    const all = withOutputs(backend, this.#outputs);
    this.#backend = withPolicy(all, ruleHooks(this.#rules));
    this.#shell = shell;
    const real = root ?? shell?.root;
    this.undo = new FileUndo(withPolicy(backend, ruleHooks(this.#hidden)), {
      folder: this.#pictures,
      of: resolve(real ?? "/"),
      runs: new Runs(RUNNING, real === undefined ? undefined : resolve(real)),
    });
    const path = (input: string) => this.#path(input);
    const fileRules = {
      policy: (operation: "read" | "write", at: string) => {
        const refusal = operation === "write" ? this.#frozen.refusal(at) : undefined;
        if (refusal !== undefined) throw fileError("denied", at, refusal);
        return policyFor(this.#rules, operation, at);
      },
      hides: (at: string) => canHide(this.#rules, at),
    };
    const commands = {
      background: this.#background,
      protection: () => this.#protection,
      trusted,
      path: (input: string) => this.#shellPath(path(input)),
      watch: ({ threadId, files, signal }: ToolContext) => this.undo.watch({ threadId, files }, signal),
      accompany: (threadId: string) => this.undo.accompany(threadId),
    };
    this.tools = {
      ...fileTools({
        backend: withPolicy(all, withFrozen(ruleHooks(this.#rules), this.#isFrozen)),
        rules: fileRules,
        path,
        wrote: (...what) => this.undo.ledger.note(...what),
      }),
      ...(shell ? commandTools({ shell, ...commands }) : {}),
    };
  }

  async open(host: WorkspaceHost): Promise<WorkspaceStatus> {
    await checkRoot(this.#root);
    this.#openings++;
    await this.#backend.open?.(host);
    this.#background.open(host);
    await this.#outputs.tidy();
    const own = [this.#outputs.directory, this.#pictures, RUNNING];
    for (const path of [...host.storeFiles, ...own]) this.#secret.add(path);
    const hidden = [...this.#secret];
    // Before anybody else can make something of that name.
    for (const path of own) if ((await this.#placesOf(path)).length > 0) await makePrivate(path).catch(() => {});
    this.#hidden.lists = pathRules(await hiddenRules(this.#backend, hidden)).lists;
    this.#rules.lists = narrower(pathRules(this.#permissions), this.#hidden).lists;
    this.#frozen.roots = await this.#realRoots();
    this.#protection = this.#shell
      ? await this.#protect(this.#shell, hidden)
      : { kind: "virtual", description: "There is no shell." };
    const { kind, description } = this.#protection;
    return { protection: kind, description };
  }

  /** Hands over to the shell what it has to keep, and says what it can't. */
  async #protect(shell: Shell, hidden: readonly string[]): Promise<Protection> {
    const places = shell.root === undefined ? ["/"] : await this.#placesOf(shell.root);
    // Of a folder that is not in the workspace, or twice, nobody can tell which rules are meant for it.
    const known = places.length === 1;
    this.#shellAt = known ? places[0]! : "/";
    const rules = known ? rulesBelow(this.#permissions, this.#shellAt) : [];
    await shell.open?.({ rules, hidden, frozen: this.#isFrozen });
    const protection = await shell.protection();
    const kept = known && shell.open !== undefined && protection.kind !== "none";
    if (kept || this.#permissions.length === 0) return protection;
    return { ...protection, description: `${protection.description} Path rules do not cover commands.` };
  }

  /** The real folders of which it is known where in the workspace they are. */
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

  /** A path of the workspace, as commands have it. */
  #shellPath(path: string): string {
    return isWithin(path, this.#shellAt) ? `/${relativeTo(this.#shellAt, path)}` : path;
  }

  /** Several harnesses may share it: the last one closes it. */
  async close(): Promise<void> {
    if (--this.#openings > 0) return;
    await this.#background.close();
    await this.#shell?.close?.();
    await this.undo.close();
    await this.#backend.close?.();
  }

  /** Brings files in from the program. Path rules bind it too. */
  async upload(files: Record<string, string | Uint8Array>, reach: Reach = PROGRAM): Promise<void> {
    for (const [path, content] of Object.entries(files)) {
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      const at = this.#path(path);
      await this.#backend.write(at, once(bytes), {}, reach);
      this.undo.ledger.note(at, sha256(bytes));
    }
  }

  /** Takes files out to the program. */
  async download(paths: readonly string[], reach: Reach = PROGRAM): Promise<Record<string, Uint8Array>> {
    const files: [string, Uint8Array][] = [];
    for (const path of paths) {
      files.push([path, await whole(this.#backend.read(this.#path(path), {}, reach))]);
    }
    return Object.fromEntries(files);
  }

  /** What a path means; a real one below the root too. */
  #path(input: string): string {
    return virtualPath(input, this.#root === undefined ? {} : { root: this.#root });
  }
}

async function checkRoot(root: string | undefined): Promise<void> {
  if (root === undefined || (await stat(root).catch(() => null))?.isDirectory()) return;
  throw new CinchError(
    "INVALID_CONFIG",
    `The root of the workspace, ${root}, is no folder. Make it, or give another one.`,
  );
}

/** The same for all workspaces, wherever their caches are: they have to know of one another. */
const RUNNING = cacheFolder("running");

const PROGRAM: Reach = { threadId: "", resourceId: "default" };

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function whole(content: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return new Uint8Array(Buffer.concat(chunks));
}
