import type { CompletedShell, ExportFormat } from "./command-table.ts";
import type { ProjectFlags } from "./setup/project.ts";

/** Which thread a command means. */
export type ThreadChoice = { kind: "new" } | { kind: "newest" } | { kind: "id"; id: string };

export interface RunOptions {
  /** `undefined` if none was given. */
  prompt: string | undefined;
  /** The last word was "-": stdin is read, whatever it is. */
  stdin: boolean;
  thread: ThreadChoice;
  json: boolean;
  /** Obey this folder for one run. */
  trust: boolean;
  flags: ProjectFlags;
}

export interface AppOptions {
  /** `pick`: the user chooses from a list. */
  thread: ThreadChoice | { kind: "pick" };
  plain: boolean;
  flags: ProjectFlags;
}

export interface AcpOptions {
  /** Obey every folder that the editor opens. */
  trust: boolean;
  flags: ProjectFlags;
}

export interface AnswerOptions {
  /** Of what waits, or of its thread, or the beginning of either. */
  id: string;
  words: readonly string[];
  message: string | undefined;
  json: boolean;
  trust: boolean;
  flags: ProjectFlags;
}

/** The options of the commands that need only the store. An id may be the beginning of one. Without `db`, the database of the folder is used. */
export interface ListOptions {
  db: string | undefined;
  json: boolean;
  query: string | undefined;
  limit: number | undefined;
}
export interface ShowOptions {
  db: string | undefined;
  id: string;
  json: boolean;
}
export interface ExportOptions {
  db: string | undefined;
  id: string;
  format: ExportFormat;
  /** `undefined`: stdout. */
  output: string | undefined;
}
export interface DeleteThreadOptions {
  db: string | undefined;
  id: string;
  yes: boolean;
}
export interface AbortOptions {
  db: string | undefined;
  id: string;
}
export interface ReportOptions {
  db: string | undefined;
  json: boolean;
}

export interface ServeOptions {
  host: string;
  /** `undefined`: the usual one, or any that is free. */
  port: number | undefined;
  /** Of the user who serves. */
  token: string | undefined;
  readOnly: boolean;
  /** Shows the address in a browser. */
  open: boolean;
  /** Names under which callers reach the server through a proxy. */
  names: readonly string[];
  trust: boolean;
  flags: ProjectFlags;
}
export interface AddTokenOptions {
  name: string;
  /** Roles, with commas between them. */
  may: string;
}

/** What the command line asks for. */
export type CliCommand =
  | { kind: "app"; options: AppOptions }
  | { kind: "run"; options: RunOptions }
  | { kind: "threads list"; options: ListOptions }
  | { kind: "threads show"; options: ShowOptions }
  | { kind: "threads export"; options: ExportOptions }
  | { kind: "threads delete"; options: DeleteThreadOptions }
  | { kind: "pending"; options: ReportOptions }
  | { kind: "answer"; options: AnswerOptions }
  | { kind: "abort"; options: AbortOptions }
  | { kind: "acp"; options: AcpOptions }
  | { kind: "doctor"; options: ReportOptions }
  | { kind: "serve"; options: ServeOptions }
  | { kind: "token list"; options: { json: boolean } }
  | { kind: "token add"; options: AddTokenOptions }
  | { kind: "token revoke"; options: { name: string } }
  | { kind: "completion"; shell: CompletedShell }
  | { kind: "complete"; words: readonly string[] }
  | { kind: "torture" }
  | { kind: "version" }
  /** `undefined`: of all commands. */
  | { kind: "help"; topic: string | undefined };
