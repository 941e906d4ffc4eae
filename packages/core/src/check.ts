import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";
import { CinchError, type ErrorCode } from "./errors.ts";

export const english = { error: en().localeError };

/** The value, as the schema lets it through; or an error with this code that says what is wrong and where. */
export function checked<S extends z.ZodMiniType>(schema: S, value: unknown, code: ErrorCode, what: string): z.infer<S> {
  const result = z.safeParse(schema, value, english);
  if (result.success) return result.data;
  throw new CinchError(code, `${what}: ${z.prettifyError(result.error)}`);
}

export const checkedConfig = <S extends z.ZodMiniType>(schema: S, config: unknown, what: string): z.infer<S> =>
  checked(schema, config, "INVALID_CONFIG", what);
