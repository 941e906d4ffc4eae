import { didYouMean } from "@cinch/core";
import * as z from "zod/mini";
import { appActions, type AppAction } from "../../app/keymap.ts";
import { messageOf } from "../../error-message.ts";
import { UsageError } from "../../exit.ts";
import { readSmallFile } from "../small-file.ts";

const NAMED = "up|down|left|right|home|end|pageup|pagedown|insert|delete|backspace|tab|enter|escape|f[1-9]|f1[0-2]";
/** As `KeyEvent` names keys. */
const KEY = new RegExp(`^(ctrl-)?(alt-)?(shift-)?(${NAMED})$|^(ctrl-|alt-|ctrl-alt-)(shift-)?(space|[^\\sA-Z])$`, "u");

const text = z.string().check(z.minLength(1), z.maxLength(1_000));
const texts = z.optional(z.array(text));
const isFolder = (path: string): boolean => path.startsWith("/") || path.startsWith("~/");
const folders = z.optional(
  z.array(text.check(z.refine(isFolder, 'must be an absolute path, or one that begins with "~/".'))),
);
const positive = z.optional(z.number().check(z.gt(0)));
const keyName = z
  .string()
  .check(
    z.refine(
      (name) => KEY.test(name),
      'must be a key such as "ctrl-p", "alt-shift-up" or "f5": modifiers in the order ctrl, alt, shift; a character needs ctrl or alt.',
    ),
  );
const byAction = Object.fromEntries(appActions.map((action) => [action, z.optional(keyName)])) as Record<
  AppAction,
  z.ZodMiniOptional<typeof keyName>
>;
const tokens = z.optional(z.int().check(z.gte(1_000)));
const dollars = z.number().check(z.gte(0));
const policy = z.enum(["allow", "ask", "deny"]);
const limits = { steps: positive, tokens: positive, cost: positive, wallMs: positive };

const rule = z
  .strictObject({
    toolName: z.optional(text),
    category: z.optional(z.enum(["read", "edit", "execute", "mcp", "other", "control"])),
    match: z.optional(text),
    policy,
  })
  .check(
    z.refine(
      ({ toolName, category }) => (toolName === undefined) !== (category === undefined),
      "must have either a toolName or a category.",
    ),
  );

const pathRule = z.strictObject({
  operations: z.array(z.enum(["read", "write"])).check(z.minLength(1)),
  paths: z.array(text).check(z.minLength(1)),
  mode: policy,
});

const shape = {
  /** For editors. */
  $schema: z.optional(z.string()),
  /** `provider/id`, or `offline`. */
  model: z.optional(text),
  mode: z.optional(z.enum(["plan", "build"])),
  yolo: z.optional(z.boolean()),
  sandbox: z.optional(z.enum(["auto", "none"])),
  /** Hosts that commands in a sandbox may reach. */
  hosts: texts,
  permissions: z.optional(
    z.strictObject({
      /** Patterns of commands, such as `npm test *`. */
      allow: texts,
      ask: texts,
      deny: texts,
      rules: z.optional(z.array(rule)),
      paths: z.optional(z.array(pathRule)),
    }),
  ),
  budget: z.optional(z.strictObject({ ...limits, thread: z.optional(z.strictObject(limits)) })),
  /** By the name of the model, in dollars per million tokens. */
  prices: z.optional(
    z.record(
      z.string(),
      z.strictObject({
        input: dollars,
        output: dollars,
        cacheRead: z.optional(dollars),
        cacheWrite: z.optional(dollars),
      }),
    ),
  ),
  memory: z.optional(z.strictObject({ messageTokens: tokens, observationTokens: tokens })),
  /** Further folders of the machine. */
  skills: folders,
  agents: folders,
  bell: z.optional(z.boolean()),
  wrap: z.optional(z.enum(["words", "terminal"])),
  /** By action, the key. */
  keys: z.optional(z.strictObject(byAction)),
};

/** What a `config.json` may say. A project's is narrowed before it counts. */
const ConfigFile = z.strictObject(shape);
export type ConfigFile = z.infer<typeof ConfigFile>;
export type ConfigKey = keyof ConfigFile;
export const CONFIG_KEYS = Object.keys(shape) as readonly ConfigKey[];
export type ConfigPermissions = NonNullable<ConfigFile["permissions"]>;
export type ConfigBudget = NonNullable<ConfigFile["budget"]>;

/** `{}` if there is no such file. Throws `UsageError`, which names the file, the key and what is allowed. */
export function readConfigFile(file: string): ConfigFile {
  const contents = readSmallFile(file);
  if (contents === undefined) return {};
  const result = z.safeParse(ConfigFile, parsed(file, contents), { error: problemOf });
  if (result.success) return result.data;
  throw new UsageError(result.error.issues.map(({ path, message }) => `${file}: ${keyOf(path)}${message}`).join("\n"));
}

function parsed(file: string, contents: string): unknown {
  try {
    return JSON.parse(contents);
  } catch (error) {
    const hint = /^\s*\/[/*]/m.test(contents) ? " JSON has no comments: remove them." : "";
    throw new UsageError(`${file}: this is not JSON: ${messageOf(error)}.${hint}`, { cause: error });
  }
}

/** `"permissions.rules[0].policy" `, or nothing for the whole file. */
function keyOf(path: readonly PropertyKey[]): string {
  const name = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  return name === "" ? "" : `"${name.replace(/^\./, "")}" `;
}

const TYPES: Readonly<Record<string, string>> = {
  string: "must be a text",
  number: "must be a number",
  boolean: "must be true or false",
  array: "must be a list",
  int: "must be a whole number",
};

function problemOf(issue: z.core.$ZodRawIssue): string {
  const known = keysOf(issue.inst);
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => `has the unknown key "${key}": ${didYouMean(key, known)}`).join(" It also ");
    case "invalid_value":
      return unlike(`must be ${oneOf(issue.values.map(String))}`, issue.input);
    case "invalid_type":
      return unlike(TYPES[issue.expected] ?? `must be an object with the keys ${known.join(", ")}`, issue.input);
    case "too_small":
      if (issue.origin !== "number") return "must not be empty.";
      return unlike(`must be ${issue.inclusive ? "at least" : "more than"} ${issue.minimum}`, issue.input);
    case "too_big":
      return `must have at most ${issue.maximum} characters.`;
    default:
      return issue.message ?? "is not valid.";
  }
}

function unlike(wanted: string, given: unknown): string {
  if (given === undefined) return `is missing. It ${wanted}.`;
  const json = JSON.stringify(given);
  return `${wanted}, not ${json.length > 60 ? `${json.slice(0, 60)}…` : json}.`;
}

function keysOf(schema: unknown): string[] {
  const { def } = (schema ?? {}) as Partial<z.ZodMiniObject>;
  return def?.type === "object" ? Object.keys(def.shape) : [];
}

const oneOf = (values: readonly string[]): string => {
  const quoted = values.map((value) => `"${value}"`);
  return [quoted.slice(0, -1).join(", "), quoted.at(-1)].filter(Boolean).join(" or ");
};
