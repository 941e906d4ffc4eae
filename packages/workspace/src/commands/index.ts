/**
 * How permission patterns are matched on lines of a shell. A line is parsed (`syntax`, `trust`), every simple command in it is found
 * (`reading`), and each is held against what is known to be harmless (`known`, `look`). What is not known may run its words
 * (`findings`): it counts as a possible match of a deny, and no allow covers it unless the pattern spells it out.
 */
export { commandMatcher, type CommandMatcher } from "./matcher.ts";
