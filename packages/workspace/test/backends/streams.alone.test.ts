import { backendStreams } from "@cinch/testkit";
import { backends } from "./backends.ts";
import { journalBackends } from "./journal-backends.ts";

for (const [name, make] of Object.entries({ ...backends, ...journalBackends })) backendStreams(name, make);
