/**
 * What is in a prompt besides the newest messages. Skills and AGENTS.md add to it. A memory keeps a thread within the model's window for
 * as long as it lasts: what leaves the prompt is remembered, and can be recalled.
 */
export { observationalMemory, type ObservationalMemoryOptions } from "./observational-memory.ts";
export { summaries, type SummariesOptions } from "./summaries.ts";
export { recallTool } from "./recall.ts";
export { loadProfiles, type ProfileSource } from "./load-profiles.ts";
export { agentsMd, type AgentsMdOptions } from "./agents-md.ts";
export { hostFolder, type HostFolder } from "./sources/host-folder.ts";
export type { SkillProblem } from "./skills/frontmatter.ts";
export { parseFrontmatter, type ParsedFrontmatter } from "./skills/parse-frontmatter.ts";
export { parseSkill, type ParsedSkill, type AgentSkill } from "./skills/skill-file.ts";
export type { SkillSource } from "./skills/skill-library.ts";
export { skills } from "./skills/skills.ts";
