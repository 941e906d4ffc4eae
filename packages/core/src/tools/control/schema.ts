import type { StandardSchemaV1 } from "@standard-schema/spec";
import * as z from "zod/mini";
import { english } from "../../config/check.ts";
import { OWN_VENDOR } from "../schema.ts";
import { jsonSchemaOf } from "./json-schema.ts";

/** Makes a Standard Schema with JSON Schema and English messages of a schema of zod/mini, which is built at its first use. */
export function toolSchema<S extends z.ZodMiniType>(build: () => S): StandardSchemaV1<unknown, z.infer<S>> {
  let built: S | undefined;
  const schema = () => (built ??= build());
  const json = () => jsonSchemaOf(schema());
  const standard = {
    version: 1 as const,
    vendor: OWN_VENDOR,
    validate(value: unknown): StandardSchemaV1.Result<z.infer<S>> {
      const result = z.safeParse(schema(), value, english);
      return result.success ? { value: result.data } : { issues: result.error.issues };
    },
    jsonSchema: { input: json, output: json },
  };
  return { "~standard": standard };
}
