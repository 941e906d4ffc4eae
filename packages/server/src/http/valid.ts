import { english } from "@cinch/core/options";
import * as z from "zod/mini";
import { HttpError } from "./http-error.ts";

/** A value can be wrong in thousands of places, and have thousands of unknown keys. */
const MOST_NAMED = 5;

const firstKeys = {
  error: (issue: z.core.$ZodRawIssue) =>
    english.error(issue.code === "unrecognized_keys" ? { ...issue, keys: issue.keys.slice(0, MOST_NAMED) } : issue),
};

/** A field as an error names it: `files.0.mediaType`. */
export const fieldName = (path: readonly PropertyKey[]): string | undefined =>
  path.length === 0 ? undefined : path.map(String).join(".");

/** The value that the schema makes of `value`. Throws 400, with the first field that is wrong. */
export function valid<S extends z.ZodMiniType>(schema: S, value: unknown): z.infer<S> {
  const result = z.safeParse(schema, value, firstKeys);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const unknown = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const field = fieldName([...(issue?.path ?? []), ...unknown]);
  const first = { issues: result.error.issues.slice(0, MOST_NAMED) };
  throw new HttpError(400, "INVALID_INPUT", z.prettifyError(first as z.core.$ZodError), { field });
}
