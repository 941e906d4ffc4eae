import * as z from "zod/mini";
import { PROTOCOL } from "../protocol.ts";
import { JSON_ANSWER, EMPTY_ANSWER, routePattern, type Route } from "./route.ts";
import { PathId } from "./wire-schemas.ts";

type JsonObject = Record<string, unknown>;

/** A value that is checked by a function has no JSON Schema: it is any value. */
const schemaOf = (schema: z.ZodMiniType, io: "input" | "output" = "input"): JsonObject => {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { unrepresentable: "any", io }) as JsonObject;
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
    // Relative to this document, which is below the same prefix as the paths.
    servers: [{ url: ".." }],
    paths,
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
      schemas: { Error: ErrorSchema },
    },
  };
}

function operationOf(route: Route): JsonObject {
  const { method, path, summary, may, query, body, takesFiles } = route;
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
    required: !z.safeParse(schema as z.ZodMiniType, undefined).success,
    // Numbers arrive as text.
    schema: schemaOf(schema as z.ZodMiniType, "output"),
  }));
  const form = takesFiles ? { "multipart/form-data": { schema: FormSchema } } : {};
  const content = body && { "application/json": { schema: schemaOf(body) }, ...form };
  return {
    operationId: `${method.toLowerCase()}${name}`,
    summary,
    ...(may === null ? { security: [] } : { security: [{ bearer: [] }], "x-may": may }),
    parameters: [...inPath, ...inQuery],
    ...(content ? { requestBody: { required: true, content } } : {}),
    responses: responsesOf(route),
  };
}

const FAILURE = {
  description: "Failed",
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
};
const LATER = { description: "Not done yet. The work continues.", content: { "application/json": {} } };

function responsesOf({ method, answers = method === "GET" ? JSON_ANSWER : EMPTY_ANSWER, waits }: Route): JsonObject {
  const done = Object.entries(answers).map(([status, types]) => {
    const content = Object.fromEntries(types.map((type) => [type, {}]));
    return [status, { description: "Done", ...(types.length > 0 ? { content } : {}) }];
  });
  return { ...Object.fromEntries(done), ...(waits ? { 202: LATER } : {}), default: FAILURE };
}
