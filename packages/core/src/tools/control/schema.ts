import type { StandardSchemaV1 } from "@standard-schema/spec";
import * as z from "zod/mini";
import { english } from "../../config/check.ts";
import { OWN_VENDOR } from "../schema.ts";

/** Converts a schema of zod/mini to a Standard Schema with JSON Schema and English messages. */
export function toolSchema<S extends z.ZodMiniType>(schema: S): StandardSchemaV1<unknown, z.infer<S>> {
  const json = () => z.toJSONSchema(schema, { target: "draft-7", io: "input" });
  const standard = {
    version: 1 as const,
    vendor: OWN_VENDOR,
    validate(value: unknown): StandardSchemaV1.Result<z.infer<S>> {
      const result = z.safeParse(schema, value, english);
      return result.success ? { value: result.data } : { issues: result.error.issues };
    },
    jsonSchema: { input: json, output: json },
  };
  return { "~standard": standard };
}
