/** Brings threads to workers with Restate: https://restate.dev */
export { restatePlacement } from "./restate-placement.ts";
export type { RestateOptions } from "./options.ts";
