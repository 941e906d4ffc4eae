import { adapters } from "./adapters.ts";
import { agentPaths } from "./agent-paths.ts";
import { awake } from "./awake.ts";
import { client } from "./client.ts";
import { commandLine } from "./command-line.ts";
import { composerCommands } from "./composer-commands.ts";
import { conversation } from "./conversation.ts";
import { delegation } from "./delegation.ts";
import { files } from "./files.ts";
import { folded } from "./folded.ts";
import { memory } from "./memory.ts";
import { limits } from "./limits.ts";
import { live } from "./live.ts";
import { lateCommands } from "./late-commands.ts";
import { lines } from "./lines.ts";
import { lostAnswers } from "./lost-answers.ts";
import type { Mutant } from "./mutant.ts";
import { operations } from "./operations.ts";
import { page } from "./page.ts";
import { panels } from "./panels.ts";
import { patternOptions } from "./pattern-options.ts";
import { patterns } from "./patterns.ts";
import { permissions } from "./permissions.ts";
import { placements } from "./placements.ts";
import { profiles } from "./profiles.ts";
import { remotePeople } from "./remote-people.ts";
import { attempts, newerReleases, recovery, scheduled } from "./scheduled.ts";
import { search } from "./search.ts";
import { seats } from "./seats.ts";
import { serving } from "./serving.ts";
import { setup } from "./setup.ts";
import { skills } from "./skills.ts";
import { postgres } from "./postgres.ts";
import { store } from "./store.ts";
import { subagents } from "./subagents.ts";
import { terminalApp } from "./terminal-app.ts";
import { terminalText } from "./terminal-text.ts";
import { terminalThread } from "./terminal-thread.ts";
import { terminal } from "./terminal.ts";
import { turns } from "./turns.ts";
import { values } from "./values.ts";
import { walls } from "./walls.ts";
import { workers } from "./workers.ts";

/** A few for each promise and each protection. */
export const mutants: readonly Mutant[] = [
  ...store,
  ...awake,
  ...postgres,
  ...lostAnswers,
  ...search,
  ...folded,
  ...permissions,
  ...placements,
  ...profiles,
  ...turns,
  ...subagents,
  ...seats,
  ...remotePeople,
  ...lateCommands,
  ...workers,
  ...serving,
  ...client,
  ...operations,
  ...limits,
  ...conversation,
  ...scheduled,
  ...newerReleases,
  ...recovery,
  ...attempts,
  ...memory,
  ...skills,
  ...values,
  ...files,
  ...walls,
  ...patternOptions,
  ...patterns,
  ...adapters,
  ...agentPaths,
  ...delegation,
  ...terminalText,
  ...terminalThread,
  ...terminal,
  ...setup,
  ...page,
  ...panels,
  ...commandLine,
  ...terminalApp,
  ...composerCommands,
  ...lines,
  ...live,
];
