import * as z from "zod/mini";
import { PROTOCOL } from "../protocol.ts";
import { routePattern, type Route } from "./route.ts";
import { PathId } from "./wire-schemas.ts";

type JsonObject = Record<string, unknown>;

/** A value that is checked by a function has no JSON Schema: it is any value. */
const schemaOf = (schema: z.ZodMiniType): JsonObject => {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { unrepresentable: "any", io: "input" }) as JsonObject;
  return json;
};

const ErrorSchema = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      properties: { code: { type: "string" }, message: { type: "string" }, field: { type: "string" } },
    },
  },
};

const FormSchema = {
  type: "object",
  required: ["body"],
  properties: {
    body: { type: "string", contentMediaType: "application/json" },
    files: { type: "array", items: { type: "string", contentMediaType: "application/octet-stream" } },
  },
};

/** The OpenAPI 3.1 document of the table. */
export function openApiOf(table: readonly Route[]): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of table) {
    const path = routePattern(route);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Cinch", version: String(PROTOCOL) },
    paths,
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
      schemas: { Error: ErrorSchema },
    },
  };
}

function operationOf({ method, path, summary, may, query, body, takesFiles }: Route): JsonObject {
  const name = path.replace("/v1", "").replaceAll("/:threadId", "_thread").replaceAll(/\W+/g, "_");
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, param]) => ({
    name: param,
    in: "path",
    required: true,
    schema: schemaOf(PathId),
  }));
  const inQuery = Object.entries(query?.shape ?? {}).map(([key, schema]) => ({
    name: key,
    in: "query",
    schema: schemaOf(schema as z.ZodMiniType),
  }));
  const form = takesFiles ? { "multipart/form-data": { schema: FormSchema } } : {};
  const content = body && { "application/json": { schema: schemaOf(body) }, ...form };
  const failure = {
    description: "Failed",
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
  };
  return {
    operationId: `${method.toLowerCase()}${name}`,
    summary,
    ...(may === null ? { security: [] } : { security: [{ bearer: [] }], "x-may": may }),
    parameters: [...inPath, ...inQuery],
    ...(content ? { requestBody: { required: true, content } } : {}),
    responses: { "200": { description: "Done" }, default: failure },
  };
}
