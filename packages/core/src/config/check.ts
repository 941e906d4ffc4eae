import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";
import { CinchError, type ErrorCode } from "../errors.ts";
import { didYouMean } from "./nearest.ts";

const { localeError } = en();

export const english = {
  error(issue: z.core.$ZodRawIssue): ReturnType<typeof localeError> {
    const { def } = (issue.inst ?? {}) as Partial<z.ZodMiniObject>;
    const known = def?.type === "object" ? Object.keys(def.shape) : [];
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey(key, known)).join("\n");
    if (issue.code === "invalid_type" && known.length > 0) return `must be an object with the keys ${known.join(", ")}`;
    return localeError(issue);
  },
};

const unknownKey = (key: string, known: readonly string[]): string => `Unknown key "${key}": ${didYouMean(key, known)}`;

/** The parsed value. Throws an error with this code that says what is wrong, and where. */
export function checked<S extends z.ZodMiniType>(schema: S, value: unknown, code: ErrorCode, what: string): z.infer<S> {
  const result = z.safeParse(schema, value, english);
  if (result.success) return result.data;
  throw new CinchError(code, `${what}: ${z.prettifyError({ issues: result.error.issues.flatMap(innermost) })}`);
}

/** Of a union, the issues of the option that the value was meant for: the only one whose type it has. */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const meant = issue.errors.filter(
    (issues) => !issues.some(({ code, path }) => code === "invalid_type" && path.length === 0),
  );
  if (meant.length !== 1) return [issue];
  return meant[0]!.flatMap((one) => innermost({ ...one, path: [...issue.path, ...one.path] }));
}

export const checkedConfig = <S extends z.ZodMiniType>(schema: S, config: unknown, what: string): z.infer<S> =>
  checked(schema, config, "INVALID_CONFIG", what);

/** Throws `INVALID_CONFIG` for a value that is not an object, or that has other keys: a misspelt option would do nothing. */
export function checkKeys(what: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new CinchError("INVALID_CONFIG", `${what} takes an object with the keys ${known.join(", ")}.`);
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown !== undefined) throw new CinchError("INVALID_CONFIG", `${what}: ${unknownKey(unknown, known)}`);
}
