import { FileError, fileError, type FileProblem } from "../file-error.ts";

const PROBLEMS: Record<string, FileProblem> = {
  ENOENT: "not_found",
  ENOTDIR: "not_a_directory",
  EISDIR: "is_a_directory",
  EACCES: "denied",
  EPERM: "denied",
  EROFS: "denied",
};

const MESSAGES: Record<string, string> = {
  EACCES: "the operating system denies access to it.",
  EPERM: "the operating system denies access to it.",
  EROFS: "it is on a disk that can't be written.",
  ENOSPC: "the disk is full. Make room, then repeat this.",
  EDQUOT: "the quota of the disk is used up. Make room, then repeat this.",
  EMFILE: "too many files are open. Wait for others to finish, then repeat this.",
};

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;

/** An error of the operating system as a `FileError`. Any other error is returned as it is. */
export function diskError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (error instanceof FileError || code === undefined || !/^E[A-Z0-9]+$/.test(code)) return error;
  return fileError(
    PROBLEMS[code] ?? "failed",
    path,
    MESSAGES[code] ?? (PROBLEMS[code] ? undefined : `this failed with ${code}.`),
    error,
  );
}

/** Rejects with errors of the operating system as `FileError`s for this path. */
export async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskError(error, path);
  }
}
