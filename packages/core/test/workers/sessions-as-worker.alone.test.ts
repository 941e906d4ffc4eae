import { runAsWorker } from "./as-worker.ts";

// Others append to the store behind the harness, without saying that a thread is awake, or wait for a dead process.
await runAsWorker([
  "commands/abort",
  "commands/state",
  "commands/input-ids",
  "queries/settled",
  "queries/pending",
  "tools/questions",
  "tools/tasks",
  "turn/turn",
  "turn/turn-result",
  "turn/limits",
  "thread/threads",
  "thread/draining",
]);
