/** Nothing is at a path: of its folders, one may be missing, or be a file. */
export const isNothingThere = (error: unknown): boolean =>
  ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Of an error of the operating system: its code and what that means, without the call and the path that Node adds. */
export const systemReasonOf = (error: unknown): string => messageOf(error).split(", ", 1)[0]!;
