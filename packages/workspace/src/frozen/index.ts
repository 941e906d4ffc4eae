/**
 * What an agent must not change, because another program obeys it later, outside of every sandbox: what git runs, what a shell runs when
 * it starts, and what Cinch itself reads. Sandboxes freeze these files for commands, the workspace for its file tools.
 */
export { frozenFiles } from "./files.ts";
export { holdFrozen, releaseFrozen, rememberLinks } from "./holding.ts";
export { FrozenPaths, type FrozenRoot } from "./paths.ts";
