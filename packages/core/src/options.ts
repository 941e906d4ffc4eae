/** For programs that pass the options of a session's methods on, such as a server: the schemas of these options. */
export { optionsSchema } from "./commands/options.ts";
export { english } from "./config/check.ts";
