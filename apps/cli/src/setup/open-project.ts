import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { didYouMean, Harness, type ContextSource, type Rule, type ToolSet } from "@cinch/core";
import { agentsMd, hostFolder, skills } from "@cinch/memory";
import { sqliteStore } from "@cinch/sqlite";
import { localWorkspace, type FileWorkspace } from "@cinch/workspace";
import type { ModelChoice } from "../models/choice.ts";
import { envValue, type Env } from "../models/providers.ts";
import { BUILT_IN_TOOLS, codingModes } from "./agents/coding-agent.ts";
import type { Config } from "./config/config.ts";
import { databaseOf, makeDatabase } from "./database.ts";
import { exposedKeys } from "./key-files.ts";
import { loadConfig } from "./load-config.ts";
import type { Project, ProjectFlags } from "./project.ts";
import { patternProblem } from "./pattern-problem.ts";
import { projectMemory } from "./project-memory.ts";
import { modelOf, modelResolver } from "./project-model.ts";
import { subagentsOf } from "./agents/subagents.ts";
import { folderWarning } from "./trust.ts";
import { PROJECT_SKILL_FOLDERS, userSkillFolders } from "./skill-folders.ts";
import { userFolders } from "./user-folders.ts";
import { userRules } from "./user-rules.ts";

interface OpenProjectOptions {
  folder: string;
  env: Env;
  flags: ProjectFlags;
  /** Whether the folder is obeyed. Otherwise its configuration, AGENTS.md, agents and skills are not read. */
  trusted: boolean;
  /** In place of the configured one. */
  model?: ModelChoice;
  /** `decline`: no person is there to answer. */
  onAsk?: "wait" | "decline";
  /** `all`: also continues what other processes have left in threads that are not open here. */
  recover?: "opened" | "all";
}

/** The coding agent in a folder. Throws `UsageError` for a configuration, a model or a flag that can't be used; then nothing is written. */
export async function openProject({
  env,
  flags,
  trusted,
  onAsk = "wait",
  recover = "opened",
  model: given,
  ...at
}: OpenProjectOptions): Promise<Project> {
  const folder = realpathSync(at.folder);
  const place = { folder, env, trusted };
  const { config, models, notes } = await loadConfig({ ...place, flags });
  const { model, notes: modelNotes } = given
    ? { model: given, notes: [] }
    : modelOf({ flag: flags.model, env, ...models });
  const isOffline = model.id === "offline";
  const workspace = workspaceOf(place, config);
  const toys = await toysOf({ isOffline, ledger: envValue(env, "CINCH_LEDGER") });
  const tools = [...Object.keys({ ...workspace.tools, ...toys }), ...BUILT_IN_TOOLS];
  const subagents = subagentsOf({ ...place, folders: config.agents, tools });
  const { known, notes: ruleNotes } = knownRules(config.rules, tools);
  const rules = [...toyRules(toys), ...known];
  const database = databaseOf({ ...place, flag: flags.db });
  const databaseNote = database.isOwn ? makeDatabase(place) : database.note;
  const store = sqliteStore({ path: database.path });
  const harness = new Harness({
    id: "cinch-cli",
    storage: store,
    modes: codingModes({ folder, model: model.id, tools: toys, subagents: subagents.agents }),
    defaultModeId: config.mode,
    workspace,
    context: contextOf(place, config),
    memory: projectMemory(config.memory),
    permissions: rules,
    budget: config.budget,
    prices: { ...config.prices, offline: { input: 0, output: 0 } },
    initialState: { yolo: config.yolo },
    resolveModel: modelResolver(model, env),
    onAsk,
    recover,
  });
  const protection = await opened(harness);
  return {
    ...place,
    model,
    config,
    rules,
    store,
    db: database.path,
    harness,
    workspace,
    protection,
    notes: [
      folderWarning(place),
      ...notes,
      ...modelNotes,
      ...ruleNotes,
      ...subagents.notes,
      ...exposedKeys(env),
      databaseNote,
      protection.kind === "none" ? protection.description : null,
    ].filter((note) => note !== null),
    // A user who quits does not wait for what runs.
    close: () => harness.close({ drainMs: 0 }),
  };
}

type Place = Pick<OpenProjectOptions, "folder" | "env" | "trusted">;

function workspaceOf({ folder, env, trusted }: Place, { paths, sandbox, hosts }: Config): FileWorkspace {
  const { rules, hidden } = userRules({ folder, env });
  return localWorkspace({
    root: folder,
    trusted,
    permissions: [...rules, ...paths],
    // A sandbox can't restrict commands to the whole machine.
    sandbox: folder === "/" ? "none" : sandbox,
    hosts,
    hidden,
  });
}

/** Of a project, only what a trusted folder has: a source that is listed is obeyed. */
function contextOf({ folder, env, trusted }: Place, config: Config): ContextSource[] {
  const own = userFolders(env).config;
  const isInstead = trusted && !existsSync(join(folder, "AGENTS.md")) && existsSync(join(folder, "CLAUDE.md"));
  return [
    agentsMd({ files: [hostFolder(own), ...(isInstead ? ["/CLAUDE.md"] : [])] }),
    skills([
      ...userSkillFolders(env, config).map((path) => hostFolder(path)),
      ...(trusted ? PROJECT_SKILL_FOLDERS : []),
    ]),
  ];
}

/** Small tools to try the built-in model with. A ledger records them, and so brings them too. */
async function toysOf({ isOffline, ledger }: { isOffline: boolean; ledger: string | undefined }): Promise<ToolSet> {
  if (!isOffline && ledger === undefined) return {};
  const { tools } = await import("../tools/index.ts");
  if (ledger === undefined) return tools;
  return (await import("../tools/ledger.ts")).withLedger(tools, ledger);
}

/** They are harmless: dice, a counter, a pause. */
const toyRules = (toys: ToolSet): Rule[] => Object.keys(toys).map((toolName) => ({ toolName, policy: "allow" }));

/** A rule for a tool that does not exist does nothing. */
function knownRules(rules: readonly Rule[], tools: readonly string[]): { known: Rule[]; notes: string[] } {
  const isKnown = ({ toolName }: Rule) => toolName === undefined || tools.includes(toolName);
  const unknown = rules.flatMap(({ toolName }) =>
    toolName === undefined || tools.includes(toolName) ? [] : [toolName],
  );
  return {
    known: rules.filter(isKnown),
    notes: [
      ...unknown.map(
        (name) => `A permission rule is for the tool "${name}", which is not there: ${didYouMean(name, tools)}`,
      ),
      ...rules.flatMap((rule) => patternProblem(rule) ?? []),
    ],
  };
}

/** Opens store and workspace. A harness that can't be opened is closed. */
async function opened(harness: Harness): Promise<Project["protection"]> {
  let protection: Project["protection"] = { kind: "none", description: "" };
  const unsubscribe = harness.subscribe((event) => {
    if (event.type === "workspace_ready") protection = { kind: event.protection, description: event.description };
  });
  try {
    await harness.init();
    return protection;
  } catch (error) {
    await harness.close();
    throw error;
  } finally {
    unsubscribe();
  }
}
