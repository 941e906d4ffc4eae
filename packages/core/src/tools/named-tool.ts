import { fromAiSdk } from "./ai-tool.ts";
import { CinchError } from "../errors.ts";
import { answerCheck, inputSchema } from "./schema.ts";
import { isDefined, type AnyTool, type NamedTool } from "./tool.ts";

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** Agents, modes and setups use the same tools, and converting a schema is slow. */
const cache = new WeakMap<AnyTool, Map<string, NamedTool>>();

/** Throws `INVALID_CONFIG` for a name or a schema that providers do not accept. */
export function namedTool(name: string, tool: AnyTool): NamedTool {
  const names = cache.get(tool) ?? new Map<string, NamedTool>();
  const named = names.get(name) ?? make(name, tool);
  cache.set(tool, names.set(name, named));
  return named;
}

function make(name: string, tool: AnyTool): NamedTool {
  if (!NAME.test(name)) {
    throw new CinchError(
      "INVALID_CONFIG",
      `Tool name "${name}": providers accept up to 64 letters, digits, "_" and "-", beginning with a letter or "_".`,
    );
  }
  const definedTool = isDefined(tool) ? tool : fromAiSdk(name, tool);
  const { input, resume } = definedTool;
  const schema = inputSchema(input, name);
  const checkAnswer = resume === undefined ? undefined : answerCheck(resume, name);
  return { ...definedTool, name, schema, checkAnswer };
}
