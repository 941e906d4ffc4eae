/** The thrown value as an `Error`. */
export const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

export const errorMessage = (error: unknown): string => asError(error).message;
