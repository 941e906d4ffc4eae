import { agentPaths } from "./agent-paths.ts";
import { conversation } from "./conversation.ts";
import { files } from "./files.ts";
import { folded } from "./folded.ts";
import type { Mutant } from "./mutant.ts";
import { patterns } from "./patterns.ts";
import { permissions } from "./permissions.ts";
import { seats } from "./seats.ts";
import { store } from "./store.ts";
import { terminal } from "./terminal.ts";
import { turns } from "./turns.ts";
import { values } from "./values.ts";
import { walls } from "./walls.ts";

/** A few for each promise and each protection. */
export const mutants: readonly Mutant[] = [
  ...store,
  ...folded,
  ...permissions,
  ...turns,
  ...seats,
  ...conversation,
  ...values,
  ...files,
  ...walls,
  ...patterns,
  ...agentPaths,
  ...terminal,
];
