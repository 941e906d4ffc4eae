import { fromAiSdk } from "./ai-tool.ts";
import { CinchError } from "../errors.ts";
import { answerCheck, inputSchema } from "./schema.ts";
import { isOurs, type AnyTool, type NamedTool } from "./tool.ts";

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** Agents, modes and setups all ask for the same tools, and a schema takes its time. */
const known = new WeakMap<AnyTool, Map<string, NamedTool>>();

/** The tool under this name. Throws `INVALID_CONFIG` if no provider would take it. */
export function namedTool(name: string, tool: AnyTool): NamedTool {
  const names = known.get(tool) ?? new Map<string, NamedTool>();
  const named = names.get(name) ?? make(name, tool);
  known.set(tool, names.set(name, named));
  return named;
}

function make(name: string, tool: AnyTool): NamedTool {
  if (!NAME.test(name)) {
    throw new CinchError(
      "INVALID_CONFIG",
      `Tool name "${name}": providers take up to 64 letters, digits, "_" and "-", beginning with a letter or "_".`,
    );
  }
  const whole = isOurs(tool) ? tool : fromAiSdk(name, tool);
  const schema = inputSchema(whole.input, name);
  const answers = whole.resume === undefined ? undefined : answerCheck(whole.resume, name);
  return { ...whole, name, schema, answers };
}
