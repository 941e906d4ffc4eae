/**
 * How permission patterns are matched on lines of a shell. A line is parsed, every simple command in it is found, at any depth and through
 * programs that run others, and each is held against the pattern. Lines are read as bash reads them; what can't be told for certain
 * counts as a possible match, and never as an allowed one.
 */
export { commandMatcher, type CommandMatcher } from "./matcher.ts";
