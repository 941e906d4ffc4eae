import { backendConformance } from "@cinch/testkit";
import { backends } from "./backends.ts";
import { journalBackends } from "./journal-backends.ts";

// `streams.alone.test.ts` measures memory.
for (const [name, make] of Object.entries({ ...backends, ...journalBackends }))
  backendConformance(name, make, { streams: false });
