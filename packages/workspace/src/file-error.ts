import { CinchError, type ErrorCode } from "@cinch/core";

/** What can be wrong with a file. `outside`: the path, or a link on its way, escapes the root. */
export type FileProblem =
  | "not_found"
  | "not_a_directory"
  | "is_a_directory"
  | "changed"
  | "denied"
  | "outside"
  | "invalid"
  | "failed";

const CODES: Partial<Record<FileProblem, ErrorCode>> = { outside: "PATH_OUTSIDE_ROOT", denied: "PERMISSION_DENIED" };

/** A failure of a backend. The message is for the model: it says which path and what to do next. */
export class FileError extends CinchError {
  override readonly name = "FileError";
  readonly problem: FileProblem;
  readonly path: string;

  constructor(problem: FileProblem, path: string, message: string, cause?: unknown) {
    super(CODES[problem] ?? "INVALID_INPUT", message, cause);
    this.problem = problem;
    this.path = path;
  }
}

const MESSAGES: Record<FileProblem, string> = {
  not_found: "there is no such file or directory. List the directory above it to see what there is.",
  not_a_directory: "not a directory. Read it as a file, or name a directory.",
  is_a_directory: "a directory, not a file. List it, or name a file in it.",
  changed: "another program or person has changed it in the meantime. Read it again, then repeat the change.",
  denied: "access is denied.",
  outside: "it escapes the root of the workspace (PATH_OUTSIDE_ROOT). Use a path below /.",
  invalid: "not a usable path.",
  failed: "this did not work.",
};

/** Messages begin with the path, so that a backend around a backend can replace it by its own. */
export function fileError(
  problem: FileProblem,
  path: string,
  message: string = MESSAGES[problem],
  cause?: unknown,
): FileError {
  return new FileError(problem, path, `${path}: ${message}`, cause);
}

/** The same failure with the path that the caller knows. Any other error is returned as it is. */
export function retold(error: unknown, path: (inner: string) => string): unknown {
  if (!(error instanceof FileError)) return error;
  const outer = path(error.path);
  const message = error.message.startsWith(error.path) ? outer + error.message.slice(error.path.length) : error.message;
  return new FileError(error.problem, outer, message, error.cause);
}
