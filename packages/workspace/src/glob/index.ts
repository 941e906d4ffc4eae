/** Patterns for paths: one meaning for `glob`, for what `grep` looks at, and for path rules. */
export * from "./glob.ts";
export * from "./parts.ts";
