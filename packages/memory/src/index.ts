/** Keeps a thread within the model's window for as long as it lasts: what leaves the prompt is remembered, and can be recalled. */
export { observationalMemory, type ObservationalMemoryOptions } from "./observational-memory.ts";
export { summaries, type SummariesOptions } from "./summaries.ts";
export { recallTool } from "./recall.ts";
export { loadProfiles, type ProfileSource } from "./load-profiles.ts";
