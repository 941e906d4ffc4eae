import { conversation } from "./conversation.ts";
import { files } from "./files.ts";
import type { Mutant } from "./mutant.ts";
import { permissions } from "./permissions.ts";
import { store } from "./store.ts";
import { turns } from "./turns.ts";

/** A handful for each promise and each wall. */
export const mutants: readonly Mutant[] = [...store, ...permissions, ...turns, ...conversation, ...files];
