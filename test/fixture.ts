import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStore } from "@cinch/sqlite";
import { mainThread, tortureHarness } from "@cinch/testkit";

/** What a person sees who opens this journal. A copy is opened, and a turn that was cut off is parked there, not driven. */
export async function seenIn(path: string) {
  const folder = mkdtempSync(join(tmpdir(), "cinch-fixture-"));
  try {
    copyFileSync(path, join(folder, "cinch.db"));
    const storage = sqliteStore({ path: join(folder, "cinch.db") });
    const h = tortureHarness(storage, join(folder, "ledger"), { onRecover: "pause" });
    await h.init();
    await mainThread(h);
    const { title, messages, inbox, pendingSuspensions, tokenUsage } = h.getDisplayState();
    const { pendingApprovals, tasks, modeId, modelId } = h.getDisplayState();
    // Those of the thread: what the configuration of the test says is no part of the journal.
    const rules = h.getPermissionRules().filter((rule) => "toolName" in rule);
    const set = { tasks, modeId, modelId, rules, grants: h.getSessionGrants(), state: h.getState() };
    await h.close();
    return { title, messages, inbox, pendingSuspensions, tokenUsage, pendingApprovals, ...set };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
