import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { seenIn } from "../test/fixture.ts";

/**
 * Writes the journals that a release leaves behind, for `test/fixtures.test.ts`: run it once, before a release, with the version as its
 * argument. What is there already is never written again.
 */
const version = process.argv[2];
if (!version) throw new Error("Say which release: node -C @cinch/source scripts/write-fixtures.ts 0.2.0");
const target = join(import.meta.dirname, "..", "test", "fixtures", version);
mkdirSync(target);

/** The torture scenario, cut off at a certain point: what is open there is what a later release must be able to go on with. */
const journals = {
  finished: undefined,
  "cut-off-in-a-tool": "tool_start:after:3",
  waiting: "tool_suspended:after",
  queued: "input_edited:after",
  // A tool has recorded what it is about to do to a file.
  "file-changed": "file_changed:after",
  "plan-submitted": "tool_suspended:after:2",
  // With a rule, a task list and another mode; the question is asked beside the approval.
  "approval-and-question": "tool_suspended:after:3",
  "arguments-changed": "tool_approval_resolved:after:2",
  granted: "grant_added:after",
  "declined-without-a-word": "tool_approval_resolved:after:5",
  // With all of that, and another model.
  yolo: "state_changed:after",
};

const child = fileURLToPath(new URL("../packages/testkit/src/torture/child.ts", import.meta.url));
for (const [name, crashAt] of Object.entries(journals)) {
  const folder = mkdtempSync(join(tmpdir(), "cinch-fixture-"));
  const env = crashAt ? { ...process.env, CRASH_AT: crashAt } : process.env;
  await new Promise((resolve) =>
    spawn(process.execPath, [...process.execArgv, child, folder], { env, stdio: "inherit" }).on("close", resolve),
  );
  // Everything into the one file that is kept.
  const db = new DatabaseSync(join(folder, "cinch.db"));
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  copyFileSync(join(folder, "cinch.db"), join(target, `${name}.db`));
  const seen = await seenIn(join(target, `${name}.db`));
  writeFileSync(join(target, `${name}.json`), `${JSON.stringify(seen, null, 1)}\n`);
  rmSync(folder, { recursive: true });
}
