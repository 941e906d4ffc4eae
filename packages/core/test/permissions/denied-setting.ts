import {
  Agent,
  defineTool,
  type Decision,
  type Effect,
  type Fit,
  type HarnessConfig,
  type LanguageModel,
  type Policy,
  type Rule,
  type ToolCategory,
  type ToolContext,
  type ToolSet,
} from "@cinch/core";
import * as fc from "fast-check";
import * as z from "zod";

/** A random configuration of tools, rules and modes, and the harness that is made from it. */

export const TOOLS = ["look", "write", "shell", "extra"] as const;
export type ToolName = (typeof TOOLS)[number];
export const isOurs = (name: string): name is ToolName => (TOOLS as readonly string[]).includes(name);
export const NAMES: readonly string[] = [...TOOLS, "ask_user", "submit_plan", "write_todos"];
const CATEGORIES: readonly ToolCategory[] = ["read", "edit", "execute", "edit", "execute", "control"];
const POLICIES: readonly Policy[] = ["allow", "ask", "deny"];

/** The schema converts upper case to lower case, so the tool does not get what the model wrote. */
const Args = z.object({ words: z.array(z.string().toLowerCase()).min(1), does: z.enum(["end", "suspend", "throw"]) });
export type Args = z.infer<typeof Args>;
export const args: fc.Arbitrary<Args> = fc.record({
  words: fc.array(fc.constantFrom("a", "b", "A"), { minLength: 1, maxLength: 2 }),
  does: fc.oneof(
    { weight: 4, arbitrary: fc.constant("end" as const) },
    { weight: 3, arbitrary: fc.constant("suspend" as const) },
    { weight: 1, arbitrary: fc.constant("throw" as const) },
  ),
});
/** The arguments as the tool gets them. */
export const checkedArgs = (raw: unknown): Args => Args.parse(raw);

export interface ToolSpec {
  category: ToolCategory;
  effect: Effect;
  matches: "words" | "throws" | "nonsense" | "absent";
  suggest: "word" | "throws" | "absent";
  /** Path rules: the first rule for one of the words decides. */
  place: { word: string; policy: Policy | "throws" }[];
}

export interface ModeSpec {
  agent: 0 | 1;
  availableTools: string[] | null;
  /** Whether this mode adds the tool `extra`. */
  extra: boolean;
  leadsOn: boolean;
}

export interface Setting {
  tools: Record<ToolName, ToolSpec>;
  categories: Partial<Record<string, ToolCategory>>;
  permissions: Rule[];
  interruptOn: Partial<Record<string, { word: string | null; throws: boolean; decisions: Decision[] | null }>>;
  agents: { permissions: Rule[]; availableTools: string[] | null }[];
  modes: ModeSpec[];
  yolo: boolean;
  onAsk: "wait" | "decline";
}

const rarely = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value });
/** A rule for one of the tools of the plan, or for its category. */
export interface RuleSpec {
  about: number;
  wide: boolean;
  match: string | null;
  policy: Policy;
}
const ruleWith = (policy: fc.Arbitrary<Policy>): fc.Arbitrary<RuleSpec> =>
  fc.record({
    about: fc.nat(2),
    wide: fc.nat(3).map((n) => n === 3),
    match: fc.option(fc.constantFrom("a", "a", "b", "*"), { nil: null, freq: 2 }),
    policy,
  });
export const ruleSpec = ruleWith(fc.constantFrom(...POLICIES));
/** Few denials: what the configuration denies stays denied, which leaves little to test. */
const configured = ruleWith(fc.constantFrom<Policy>("allow", "ask", "ask", "allow", "ask", "ask", "deny"));

const spec: fc.Arbitrary<ToolSpec> = fc.record({
  category: fc.constantFrom(...CATEGORIES),
  effect: fc.constantFrom<Effect>("once", "pure", "idempotent"),
  matches: fc.constantFrom("words", "words", "words", "words", "words", "throws", "nonsense", "absent"),
  suggest: fc.constantFrom("word", "word", "throws", "absent"),
  place: fc.oneof(
    { weight: 3, arbitrary: fc.constant<ToolSpec["place"]>([]) },
    {
      weight: 1,
      arbitrary: fc.array(
        fc.record({ word: fc.constantFrom("a", "b"), policy: fc.constantFrom(...POLICIES, "throws" as const) }),
        { minLength: 1, maxLength: 2 },
      ),
    },
  ),
});

const available = fc.subarray([...NAMES], { minLength: 5 });
const interrupt = fc.record({
  word: fc.option(fc.constantFrom("a", "b"), { nil: null }),
  throws: fc.nat(9).map((n) => n === 9),
  decisions: rarely(
    fc.subarray<Decision>(["approve", "edit", "always_allow_tool", "always_allow_category"], { minLength: 1 }),
  ),
});

/** The drawn values, before the tools of the plan are known. */
export type SettingSpec = Omit<Setting, "permissions" | "agents"> & {
  permissions: RuleSpec[];
  agents: { permissions: RuleSpec[]; availableTools: string[] | null }[];
};

export const settingSpec: fc.Arbitrary<SettingSpec> = fc.record({
  tools: fc.record({ look: spec, write: spec, shell: spec, extra: spec }),
  categories: fc.dictionary(fc.constantFrom<string>(...TOOLS), fc.constantFrom(...CATEGORIES), {
    maxKeys: 1,
    noNullPrototype: true,
  }),
  permissions: fc.array(configured, { maxLength: 1 }),
  interruptOn: fc.dictionary(fc.constantFrom<string>(...TOOLS), interrupt, { maxKeys: 2, noNullPrototype: true }),
  agents: fc.array(
    fc.record({ permissions: fc.array(configured, { maxLength: 1 }), availableTools: rarely(available) }),
    {
      minLength: 2,
      maxLength: 2,
    },
  ),
  modes: fc.array(
    fc.record({
      agent: fc.constantFrom<0 | 1>(0, 0, 1),
      availableTools: rarely(available),
      extra: fc.boolean(),
      leadsOn: fc.boolean(),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  yolo: fc.nat(5).map((n) => n === 5),
  onAsk: fc.nat(7).map((n) => (n === 7 ? "decline" : "wait")),
});

export const categoryOf = ({ tools, categories }: Pick<Setting, "tools" | "categories">, name: string): ToolCategory =>
  categories[name] ?? (isOurs(name) ? tools[name].category : "control");

/** How far a pattern covers the arguments of a tool of this kind. `some` if the tool can't say. */
export function fitOf({ matches }: ToolSpec, match: string, { words }: Args): Fit {
  if (matches !== "words") return "some";
  const covered = words.filter((word) => match === "*" || match === word);
  if (covered.length === 0) return "none";
  return covered.length === words.length ? "all" : "some";
}

export function placeOf({ place }: ToolSpec, { words }: Args): Policy | "throws" | undefined {
  return place.find(({ word }) => words.includes(word))?.policy;
}

export type Run = (name: ToolName, input: Args, context: ToolContext) => Promise<unknown>;

function toolOf(name: ToolName, of: ToolSpec, run: Run) {
  return defineTool<Args>({
    description: `Does what "${name}" does`,
    category: of.category,
    effect: of.effect,
    input: Args,
    matches:
      of.matches === "absent"
        ? undefined
        : (match, input) => {
            if (of.matches === "throws") throw new Error("no idea");
            return of.matches === "nonsense" ? ("perhaps" as Fit) : fitOf(of, match, input);
          },
    suggest:
      of.suggest === "absent" || of.matches === "absent"
        ? undefined
        : ({ words }) => {
            if (of.suggest === "throws") throw new Error("no idea");
            return words.length === 1 ? words[0] : undefined;
          },
    policy:
      of.place.length === 0
        ? undefined
        : (input) => {
            const says = placeOf(of, input);
            if (says === "throws") throw new Error("no such place");
            return says;
          },
    execute: (input, context) => run(name, input, context),
  });
}

export const modeId = (index: number): string => `mode-${index}`;

/** The configuration that a process starts with. */
export function configOf(of: Setting, { model, run }: { model: LanguageModel; run: Run }): HarnessConfig {
  const { look, write, shell, extra } = of.tools;
  const agents = of.agents.map(({ permissions, availableTools }, at) => {
    const tools: ToolSet = { shell: toolOf("shell", shell, run) };
    return new Agent({ name: `agent-${at}`, model, tools, permissions, ...(availableTools ? { availableTools } : {}) });
  });
  const added: ToolSet = { extra: toolOf("extra", extra, run) };
  const interrupts = Object.entries(of.interruptOn).map(([name, one]) => {
    const { word, throws, decisions } = one!;
    const when = ({ words }: Args) => {
      if (throws) throw new Error("no idea");
      return words.includes(word!);
    };
    const config = { ...(word || throws ? { when } : {}), ...(decisions ? { decisions } : {}) };
    return [name, Object.keys(config).length === 0 ? true : config] as const;
  });
  return {
    id: "denied",
    tools: { look: toolOf("look", look, run), write: toolOf("write", write, run) },
    toolCategory: (name) => of.categories[name],
    permissions: of.permissions,
    interruptOn: Object.fromEntries(interrupts),
    initialState: { yolo: of.yolo },
    onAsk: of.onAsk,
    modes: of.modes.map((mode, at) => ({
      id: modeId(at),
      agent: agents[mode.agent]!,
      ...(mode.availableTools ? { availableTools: mode.availableTools } : {}),
      ...(mode.extra ? { additionalTools: added } : {}),
      ...(mode.leadsOn ? { transitionsTo: modeId((at + 1) % of.modes.length) } : {}),
    })),
  };
}
