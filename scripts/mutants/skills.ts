import { inPackage } from "./mutant.ts";

/** Skills, AGENTS.md, and what they may read and restrict. */
export const skills = [
  ...inPackage("packages/core", [
    {
      attacks: "skills: one restricts later turns too",
      file: "folds/control.ts",
      find: "return policies.skills.length === 0 ? control : { ...control, policies: { ...policies, skills: [] } };",
      replace: "return control;",
      tests: ["turn/skills"],
    },
    {
      attacks: "skills: calls outside of what one lists do not ask",
      file: "permissions/gate.ts",
      find: 'fit: fits.includes("all") ? "none" : "all"',
      replace: 'fit: "none"',
      tests: ["turn/skills"],
    },
    {
      attacks: "skills: a listed tool asks for any arguments",
      file: "permissions/gate.ts",
      find: 'match === undefined ? "all" : fitOf(match, call)',
      replace: '"all"',
      tests: ["turn/skills"],
    },
    {
      attacks: "skills: the tools for the task list and for questions ask",
      file: "permissions/gate.ts",
      find: '(category === "control" ? [] : skills)',
      replace: "skills",
      tests: ["turn/skills"],
    },
    {
      attacks: "skills: one that asks offers answers that interruptOn does not accept",
      file: "permissions/gate.ts",
      find: "const interrupt = isInterrupted ? { interrupt: true } : {};",
      replace: "const interrupt = {};",
      tests: ["turn/skills"],
    },
    {
      attacks: "skills: one whose call failed is loaded",
      file: "turn/calls.ts",
      find: "const loaded = isError ? [] : skills.events(turnId);",
      replace: "const loaded = skills.events(turnId);",
      tests: ["turn/skills"],
    },
    {
      attacks: "skills: their instructions are lost in a compaction",
      file: "folds/memory-blocks.ts",
      find: "filter(({ seq }) => seq <= memory.coveredSeq)",
      replace: "filter(({ seq }) => seq > memory.coveredSeq)",
      tests: ["turn/skills"],
    },
    {
      attacks: "skills: an earlier version stands in the prompt",
      file: "folds/memory-blocks.ts",
      find: "memory.loaded.filter((skill) => skill.name !== name)",
      replace: "memory.loaded",
      tests: ["turn/skills"],
    },
    {
      attacks: "context sources: path rules of agents do not bind them",
      file: "turn/sources.ts",
      find: "const pathRules = pathRulesOf(gate, this.#driver.journal.policies);",
      replace: "const pathRules = gate.pathRules.slice(0, 0);",
      tests: ["packages/workspace/test/rule-bound-reader.test.ts"],
    },
  ]),
  ...inPackage("packages/workspace", [
    {
      attacks: "context sources: what an agent may not read without asking is read",
      file: "path-rules/rule-hooks.ts",
      find: 'policyFor(rules, "read", access.path) === "ask"',
      replace: "false",
      tests: ["rule-bound-reader"],
    },
  ]),
  ...inPackage("packages/memory", [
    {
      attacks: "trust: skills of an untrusted workspace are obeyed",
      file: "skills/skill-library.ts",
      find: "this.#sources ?? (isTrusted ? DISCOVERED : [])",
      replace: "this.#sources ?? DISCOVERED",
      tests: ["skills/skills"],
    },
    {
      attacks: "trust: AGENTS.md of an untrusted workspace is obeyed",
      file: "agents-md.ts",
      find: "files && isTrusted ?",
      replace: "files ?",
      tests: ["sources/agents-md"],
    },
    {
      attacks: "skills: a model reads files beside the folder of a skill",
      file: "sources/host-folder.ts",
      find: "root && real?.startsWith(root + sep)",
      replace: "real",
      tests: ["skills/skills"],
    },
    {
      attacks: "skills: a broken one hides the one before it",
      file: "skills/skill-library.ts",
      find: "if (skill) return { skill, folder: `${path}/${name}`, isHost };",
      replace: "return skill && { skill, folder: `${path}/${name}`, isHost };",
      tests: ["skills/skills"],
    },
  ]),
];
