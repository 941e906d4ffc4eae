import { runOverHttp } from "./over-http.ts";

await runOverHttp([
  "commands/abort",
  "commands/approvals",
  "commands/by",
  "commands/clone-rules",
  "commands/control-edges",
  "commands/control-races",
  "commands/input-ids",
  "commands/retry",
  "commands/scheduled-inputs",
  "commands/state",
  "commands/unattended",
]);
