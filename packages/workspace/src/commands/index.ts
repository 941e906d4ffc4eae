/**
 * Matches permission patterns against command lines. A line is parsed (`syntax`, `trust`), every simple command in it is found
 * (`line-analysis`), and each is compared with what is known to be harmless (`programs/`). An unknown program may run its words
 * (`findings`): it may match any deny, and no allow covers it unless the pattern spells it out.
 */
export { commandMatcher, type CommandMatcher } from "./matcher.ts";
export { isCommandPattern } from "./pattern.ts";
