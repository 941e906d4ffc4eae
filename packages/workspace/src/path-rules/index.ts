/**
 * Path rules and how calls are judged by them: the rules as configured (`path-rules.ts`), the same around any backend (`rule-hooks.ts`),
 * and what the file tools ask before a call, under every name of a path (`judged.ts`).
 */
export { readPolicy, readWritePolicy, writePolicy, type FileRules } from "./file-rules.ts";
export { judged, judgedAsFile, judgedAsFolder } from "./judged.ts";
export { PathNames } from "./path-names.ts";
export {
  canHide,
  narrower,
  Operation,
  PathRule,
  pathRules,
  policyFor,
  ruleGlob,
  type PathRules,
} from "./path-rules.ts";
export { folderFit, looksLikeFile, removalFit, suggestForFile, treeFit } from "./pattern-fit.ts";
export { ruleHooks, withFrozen } from "./rule-hooks.ts";
