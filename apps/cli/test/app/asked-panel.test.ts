import assert from "node:assert/strict";
import { test } from "node:test";
import { askedApproval, type AskedChoice } from "../../src/app/asked-panel.ts";
import { approval } from "../views/panel-stage.ts";

const args = { to: "a" };
const original = '{\n  "to": "a"\n}';

function edits(panel: ReturnType<typeof askedApproval>): AskedChoice & { kind: "edit" } {
  const choice = panel.press({ type: "text", text: "e" });
  assert.equal(choice?.kind, "edit");
  return choice as AskedChoice & { kind: "edit" };
}

test("arguments that are no JSON are edited again as the user left them", () => {
  const panel = askedApproval(approval({ toolName: "send", args }));
  const first = edits(panel);
  assert.equal(first.text, original);
  const problem = first.saved('{"to": "b",}\n');
  assert.match((problem as { problem: string }).problem, /^The arguments are not JSON: .*\. Edit them again\.$/);
  const second = edits(panel);
  assert.equal(second.text, '{"to": "b",}\n');
  const answer = second.saved('{"to": "b"}\n');
  assert.deepEqual((answer as { answer: { args: unknown } }).answer.args, { to: "b" });
});

test("an edit whose answer is refused is not lost, and one that leaves nothing begins anew", () => {
  const panel = askedApproval(approval({ toolName: "send", args }));
  edits(panel).saved('{"to": "b"}\n');
  assert.equal(edits(panel).text, '{"to": "b"}\n');
  assert.deepEqual(edits(panel).saved("\n"), { kind: "none" });
  assert.equal(edits(panel).text, original);
});
