import { english } from "@cinch/core/options";
import * as z from "zod/mini";
import { HttpError } from "./http-error.ts";

/** A field as an error names it: `files.0.mediaType`. */
export const fieldName = (path: readonly PropertyKey[]): string | undefined =>
  path.length === 0 ? undefined : path.map(String).join(".");

/** The value that the schema makes of `value`. Throws 400, with the first field that is wrong. */
export function valid<S extends z.ZodMiniType>(schema: S, value: unknown): z.infer<S> {
  const result = z.safeParse(schema, value, english);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const unknown = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const field = fieldName([...(issue?.path ?? []), ...unknown]);
  throw new HttpError(400, "INVALID_INPUT", z.prettifyError(result.error), { field });
}
