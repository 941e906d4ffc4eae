/** Path rules as configured (`path-rules.ts`), around any backend (`rule-hooks.ts`), and how patterns fit paths (`pattern-fit.ts`). */
export { fileRules, policyInside, readPolicy, readWritePolicy, writePolicy, type FileRules } from "./file-rules.ts";
export { PathNames } from "./path-names.ts";
export { agentPathRules, narrower, pathRules, policyFor, type PathRules } from "./path-rules.ts";
export { folderFit, looksLikeFile, removalFit, suggestForFile, treeFit } from "./pattern-fit.ts";
export { ruleHooks, withFrozen } from "./rule-hooks.ts";
