export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Of an error of the operating system: its code and what that means, without the call and the path that Node adds. */
export const systemReasonOf = (error: unknown): string => messageOf(error).split(", ", 1)[0]!;
