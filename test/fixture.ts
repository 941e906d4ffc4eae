import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStore } from "@cinch/sqlite";
import { mainThread, tortureHarness } from "@cinch/testkit";

/** The display state and settings of this journal. Opens a copy, in which an interrupted turn is parked, not driven. */
export async function displayOf(path: string) {
  const folder = mkdtempSync(join(tmpdir(), "cinch-fixture-"));
  try {
    copyFileSync(path, join(folder, "cinch.db"));
    const storage = sqliteStore({ path: join(folder, "cinch.db") });
    const h = tortureHarness(storage, join(folder, "ledger"), { onRecover: "pause" });
    await h.init();
    await mainThread(h);
    const { title, messages, inbox, pendingSuspensions, tokenUsage } = h.getDisplayState();
    const { pendingApprovals, tasks, modeId, modelId } = h.getDisplayState();
    // Only the rules of the thread: those of the configuration are not in the journal.
    const rules = h.getPermissionRules().filter((rule) => "toolName" in rule);
    const set = { tasks, modeId, modelId, rules, grants: h.getSessionGrants(), state: h.getState() };
    await h.close();
    return { title, messages, inbox, pendingSuspensions, tokenUsage, pendingApprovals, ...set };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 9 });
  }
}
