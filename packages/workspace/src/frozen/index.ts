/**
 * Files that an agent must not change, because another program obeys them later, outside of every sandbox: what git runs, what a shell
 * runs when it starts, and what Cinch itself reads. Sandboxes freeze them for commands, the workspace for file tools.
 */
export { FrozenPaths, type FrozenRoot } from "./frozen-paths.ts";
