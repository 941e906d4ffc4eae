import { inPackage, type Mutant } from "./mutant.ts";

const CONFIG = ["setup/config/config"];
const TRUST = ["setup/trust"];
const PROJECT = ["setup/open-project"];
const KEYS = ["setup/keys"];

/** Configuration, trust and keys of the command line. */
export const setup: Mutant[] = inPackage("apps/cli", [
  {
    attacks: "memory: the built-in model observes, and replaces messages by nonsense",
    file: "setup/project-memory.ts",
    find: 'view.modelId === "offline" ? atRest : memory.plan(view)',
    replace: "atRest.cut ?? memory.plan(view)",
    tests: PROJECT,
  },
  {
    attacks: "configuration: a rule of a project allows",
    file: "setup/config/narrowed-config.ts",
    find: 'rule.policy !== "allow"),',
    replace: 'rule.policy !== "ask"),',
    tests: CONFIG,
  },
  {
    attacks: "configuration: a path rule of a project asks, and so hides a deny of the user",
    file: "setup/config/narrowed-config.ts",
    find: 'rule.mode === "deny"),',
    replace: 'rule.mode !== "allow"),',
    tests: CONFIG,
  },
  {
    attacks: "configuration: a project leaves the user's plan mode",
    file: "setup/config/narrowed-config.ts",
    find: '...(mode === "plan" ? { mode } : {}),',
    replace: "...(mode ? { mode: mode as never } : {}),",
    tests: CONFIG,
  },
  {
    attacks: "configuration: a project raises the budget",
    file: "setup/config/config.ts",
    find: "Math.min(one[key] ?? Infinity, other[key] ?? Infinity)",
    replace: "other[key] ?? one[key]",
    tests: CONFIG,
  },
  {
    attacks: "configuration: what the user allows stands before what a project denies",
    file: "setup/config/config.ts",
    find: "[...project.paths, ...(user.permissions?.paths ?? [])]",
    replace: "[...(user.permissions?.paths ?? []), ...project.paths]",
    tests: CONFIG,
  },
  {
    attacks: "trust: the configuration of an untrusted folder is read",
    file: "setup/load-config.ts",
    find: "= trusted\n",
    replace: "= trusted || true\n",
    tests: TRUST,
  },
  {
    attacks: "trust: skills of an untrusted folder are obeyed",
    file: "setup/open-project.ts",
    find: "...(trusted ? PROJECT_SKILL_FOLDERS",
    replace: "...(trusted || true ? PROJECT_SKILL_FOLDERS",
    tests: PROJECT,
  },
  {
    attacks: "trust: agents of an untrusted folder are obeyed",
    file: "setup/agents/subagents.ts",
    find: '...(trusted ? [join(folder, ".cinch/agents")] : []),',
    replace: '...[join(folder, ".cinch/agents")],',
    tests: PROJECT,
  },
  {
    attacks: "trust: AGENTS.md of an untrusted folder is obeyed",
    file: "setup/open-project.ts",
    find: "    root: folder,\n    trusted,",
    replace: "    root: folder,\n    trusted: true,",
    tests: PROJECT,
  },
  {
    attacks: "trust: a trusted folder makes its subfolders trusted",
    file: "setup/trust.ts",
    find: "?.folder === real);",
    replace: "?.folder && real.startsWith(String((record as { folder: unknown }).folder)));",
    tests: TRUST,
  },
  {
    attacks: "trust: a line that a crash has cut takes the next one with it",
    file: "setup/record-file.ts",
    find: "`\\n${JSON.stringify(record)}\\n`",
    replace: "`${JSON.stringify(record)}\\n`",
    tests: TRUST,
  },
  {
    attacks: "trust: threads that came with a folder are opened",
    file: "setup/database.ts",
    find: "if (trusted || !hasForeignDatabase({ folder, env }))",
    replace: "if (trusted || folder)",
    tests: TRUST,
  },
  {
    attacks: "trust: a database is known by its path alone",
    file: "setup/database.ts",
    find: " && known.ino === ino && known.birthtimeMs === birthtimeMs",
    replace: "",
    tests: TRUST,
  },
  {
    attacks: "trust: a link in the place of .cinch is followed",
    file: "setup/database.ts",
    find: "if (!cinch.isDirectory()) return true;",
    replace: "if (!cinch.isDirectory()) return false;",
    tests: TRUST,
  },
  {
    attacks: "keys: an agent in the home folder reads them",
    file: "setup/user-rules.ts",
    find: '...denied(["read", "write"], secret), ',
    replace: "",
    tests: PROJECT,
  },
  {
    attacks: "keys: an agent in the home folder writes what Cinch obeys",
    file: "setup/user-rules.ts",
    find: ', ...denied(["write"], [obeyed])',
    replace: "",
    tests: PROJECT,
  },
  {
    attacks: "keys: a message has the key",
    file: "setup/keys.ts",
    find: '.replaceAll(key, "…")',
    replace: "",
    tests: KEYS,
  },
  {
    attacks: "keys: a saved key counts more than the environment",
    file: "setup/key-files.ts",
    find: "key === undefined || envValue(env, key) !== undefined ? undefined",
    replace: "key === undefined ? undefined",
    tests: KEYS,
  },
  {
    attacks: "keys: others can read a saved key for a moment",
    file: "composer/private-file.ts",
    find: 'writeFileSync(temporary, contents, { mode: PRIVATE_FILE, flag: "wx" });',
    replace: 'writeFileSync(temporary, contents, { flag: "wx" });',
    tests: KEYS,
  },
]);
