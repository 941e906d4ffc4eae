import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, defineTool, Harness } from "@cinch/core";
import { finish, parts, say, script } from "@cinch/testkit";
import { threadSource } from "../../src/app/thread-pages.ts";
import { plainText } from "../text/shown.ts";

const diff = "@@ -1 +1 @@\n-a\n+b\n";
const edit = defineTool({
  description: "Edits.",
  input: { type: "object" },
  execute: () => ({ content: "Edited.\nTwo lines.", details: { diff } }),
});

test("a thread is unfolded: messages, reasoning, calls with all arguments, results and diffs", async () => {
  const input = JSON.stringify({ path: "a.ts", text: "x\n\u202ey" });
  const looking = parts(
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-delta", id: "r", delta: "First I look." },
    { type: "reasoning-end", id: "r" },
    { type: "tool-call", toolCallId: "c", toolName: "edit", input },
    finish("tool-calls"),
  );
  const model = script(looking, say("**Done.**"));
  const agent = new Agent({ name: "build", model, tools: { edit } });
  const harness = new Harness({ id: "test", agent, permissions: [{ category: "other", policy: "allow" }] });
  const session = await harness.createSession();
  await session.sendMessage({ content: "fix it\nplease" });
  const source = threadSource(session, { title: "Fix" });
  const lines = (await source.older({ width: 80 }))!.map(plainText);
  assert.deepEqual(
    lines.map((row) => row.replace(/\d+\.\d s/, "0.0 s")),
    [
      "You",
      "fix it",
      "please",
      "",
      "▸ thought",
      "  First I look.",
      "✓ edit  0.0 s",
      "  path: a.ts",
      "  text:",
      "    x",
      "    <U+202E>y",
      "  1 - a",
      "  1 + b",
      "  Edited.",
      "  Two lines.",
      "",
      "Done.",
      "",
    ],
  );
  assert.equal(await source.older({ width: 80 }), null);
  await harness.close();
});

test("a long thread opens with its newest messages, and older ones are read page by page, each once", async () => {
  const agent = new Agent({
    name: "build",
    model: script(...Array.from({ length: 130 }, (_, at) => say(`answer ${at}.`))),
  });
  const harness = new Harness({ id: "test", agent });
  const session = await harness.createSession();
  for (let at = 0; at < 130; at++) await session.sendMessage({ content: `question ${at}.` });
  const source = threadSource(session, { title: "Long" });
  const pages: string[][] = [];
  for (let page = await source.older({ width: 80 }); page; page = await source.older({ width: 80 }))
    pages.unshift(page.map(plainText));
  assert.ok(pages.length > 4, "the thread was read at once");
  assert.equal(pages.at(-1)!.at(-2), "answer 129.");
  const expected = Array.from({ length: 130 }, (_, at) => ["You", `question ${at}.`, "", `answer ${at}.`, ""]).flat();
  assert.deepEqual(pages.flat(), expected);
  await harness.close();
});
