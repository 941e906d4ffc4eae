import { backendConformance } from "@cinch/testkit";
import { backends } from "./backends.ts";
import { journalBackends } from "./journal-backends.ts";

// What is held in memory is measured in `streams.alone.test.ts`.
for (const [name, make] of Object.entries({ ...backends, ...journalBackends }))
  backendConformance(name, make, { streams: false });
