import assert from "node:assert/strict";
import { test } from "node:test";
import { call, say } from "@cinch/testkit";
import { Answers } from "../../src/app/answers.ts";
import { askedApproval } from "../../src/app/asked-panel.ts";
import { AskedPanels } from "../../src/app/asked-panels.ts";
import { UiStore } from "../../src/app/ui-store.ts";
import { commandStage } from "./commands/command-stage.ts";

test("what was wrong with an edit is said until the next edit", async () => {
  await using stage = await commandStage([call("write_file", { file_path: "/a.txt", content: "a" }), say("Done.")]);
  const { session } = stage;
  const turn = session.sendMessage({ content: "write it" });
  await stage.until(({ pendingApproval }) => pendingApproval !== null);
  const panel = askedApproval(session.getDisplayState().pendingApproval!);
  const ui = new UiStore(() => undefined);
  const saved = ['{"file_path": "/b.txt", "content": "b",}', '{"file_path": "/b.txt", "content": "b"}'];
  const opened: string[] = [];
  const edit = async (text: string) => {
    opened.push(text);
    return saved[opened.length - 1];
  };
  const context = { edit, page: async () => undefined };
  const answers = new Answers({
    session,
    asked: new AskedPanels(),
    ui,
    context,
    command: () => false,
    width: () => 80,
    now: Date.now,
  });
  const press = () => answers.carryOut(panel, panel.press({ type: "text", text: "e" })!);
  await press();
  assert.match(ui.state.notice!, /^The arguments are not JSON: /);
  await press();
  assert.deepEqual([opened[1], ui.state.notice], [saved[0], null]);
  assert.equal((await turn).reason, "complete");
});
