import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { displayOf } from "../test/fixture.ts";

/**
 * Writes the journals of a release, for `test/fixtures.test.ts`. Run it once before a release, with the version as its argument.
 * It never overwrites existing fixtures.
 */
const version = process.argv[2];
if (!version) throw new Error("The version is missing. Write: node -C @cinch/source scripts/write-fixtures.ts 0.2.0");
const target = join(import.meta.dirname, "..", "test", "fixtures", version);
mkdirSync(target);

/** The crash points at which the torture scenario is killed. A later release must be able to continue from each. */
const journals = {
  finished: undefined,
  "cut-off-in-a-tool": "tool_start:after:3",
  waiting: "tool_suspended:after",
  queued: "input_edited:after",
  // A tool has recorded a change of a file that it has not made yet.
  "file-changed": "file_changed:after",
  // The child's thread does not exist yet.
  "subagent-started": "subagent_start:after",
  "subagent-in-the-background": "background_started:after",
  // The parent's call has not ended.
  "subagent-ended": "subagent_end:after",
  // Observations stand for messages, and others are buffered.
  observed: "om_activation:after",
  // No process has compacted the prompt yet.
  "compaction-requested": "compaction_requested:after",
  "plan-submitted": "tool_suspended:after:2",
  // With a rule, a task list, another mode, and a question beside the approval.
  "approval-and-question": "tool_suspended:after:3",
  "arguments-changed": "tool_approval_resolved:after:2",
  granted: "grant_added:after",
  "declined-without-a-word": "tool_approval_resolved:after:5",
  // With all of the above, and another model.
  yolo: "state_changed:after",
};

const child = fileURLToPath(new URL("../packages/testkit/src/torture/child.ts", import.meta.url));
for (const [name, crashAt] of Object.entries(journals)) {
  const folder = mkdtempSync(join(tmpdir(), "cinch-fixture-"));
  const env = crashAt ? { ...process.env, CRASH_AT: crashAt } : process.env;
  await new Promise((resolve) =>
    spawn(process.execPath, [...process.execArgv, child, folder], { env, stdio: "inherit" }).on("close", resolve),
  );
  // Only the database file is kept, so the log must be empty.
  const db = new DatabaseSync(join(folder, "cinch.db"));
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  copyFileSync(join(folder, "cinch.db"), join(target, `${name}.db`));
  const display = await displayOf(join(target, `${name}.db`));
  writeFileSync(join(target, `${name}.json`), `${JSON.stringify(display, null, 1)}\n`);
  rmSync(folder, { recursive: true });
}
