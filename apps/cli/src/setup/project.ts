import type { Harness, Rule, Store } from "@cinch/core";
import type { FileWorkspace } from "@cinch/workspace";
import type { ModelChoice } from "../models/choice.ts";
import type { Env } from "../models/providers.ts";
import type { Config } from "./config/config.ts";

/** What the command line says about a project. It stands above every file. */
export interface ProjectFlags {
  /** Only if the user named it: without it, a database that came with an untrusted folder is not opened. */
  db?: string;
  model?: string;
  mode?: string;
  yolo?: boolean;
  /** Patterns of commands, such as `npm test *`. */
  allow?: readonly string[];
  deny?: readonly string[];
  /** In dollars. */
  budget?: number;
}

/** A folder with its configuration, its model and its threads, open. */
export interface Project {
  /** The real path. */
  readonly folder: string;
  /** Without the saved keys. */
  readonly env: Env;
  readonly trusted: boolean;
  readonly model: ModelChoice;
  /** Files and flags together. Mode and YOLO are those of new threads. */
  readonly config: Config;
  /** The permission rules that hold in all threads. */
  readonly rules: readonly Rule[];
  readonly store: Store;
  readonly db: string;
  readonly harness: Harness;
  readonly workspace: Pick<FileWorkspace, "tools" | "backgroundCommands" | "stopCommand">;
  /** What stands between commands and the machine: `os`, `virtual` or `none`. */
  readonly protection: { kind: string; description: string };
  /** What the user must know: a file of the configuration that is not used, a sandbox that is missing. */
  readonly notes: readonly string[];
  close(): Promise<void>;
}
