import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, defineTool, Harness, newDisplayState, type HarnessMessage } from "@cinch/core";
import { finish, parts, say, script } from "@cinch/testkit";
import { threadSource } from "../../src/app/thread-pages.ts";
import { fileDiffLines, newestCallLines, unfoldedLines } from "../../src/views/unfolded.ts";
import { hostile } from "../terminal/hostile.ts";
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
  const newest = newestCallLines(session.getDisplayState())!.map(plainText);
  assert.deepEqual([newest[1], newest.at(-1)], ["  path: a.ts", "  Two lines."]);
  await harness.close();
});

test("the newest call is the one that runs, if it has printed something", () => {
  const running = { toolCallId: "c", toolName: "execute", args: { command: "make" }, status: "running" } as const;
  const display = {
    ...newDisplayState("t"),
    activeTools: { c: { ...running, forChildren: false, partialResult: null, output: "a\nb\n" } },
  };
  assert.deepEqual(newestCallLines(display)!.map(plainText), ["… execute", "  command: make", "  a", "  b"]);
  assert.equal(newestCallLines(newDisplayState("t")), undefined);
});

test("changes of files are shown with their diffs, or with the reason why there is none", () => {
  const lines = fileDiffLines([
    { path: "a.ts", status: "modified", diff },
    { path: "b.png", status: "added", diff: "", note: "not text" },
  ]);
  assert.deepEqual(lines.map(plainText), ["a.ts  modified", "  1 - a", "  1 + b", "", "b.png  added", "not text", ""]);
});

test("no text of a thread reaches the pager as a control or changes its direction", () => {
  for (const [name, attack] of Object.entries(hostile)) {
    const outcome = { result: { content: attack, details: { diff: `@@ -1 +1 @@\n-${attack}\n+b\n` } }, isError: false };
    const base = { id: "m", at: 0, seq: 1, interrupted: true, by: null };
    const messages: HarnessMessage[] = [
      { ...base, role: "user", content: [{ type: "text", text: attack }], outcomes: {} },
      { ...base, role: "note", content: [{ type: "text", text: attack }], outcomes: {} },
      {
        ...base,
        role: "assistant",
        content: [
          { type: "reasoning", text: attack },
          { type: "text", text: attack },
          { type: "tool-call", toolCallId: "c", toolName: attack, input: { [attack]: attack } },
          { type: "tool-result", toolCallId: "d", toolName: attack, result: attack },
          { type: "file", mediaType: attack, filename: attack },
          { type: "source", id: "s", source: { title: attack } },
          { type: "custom", kind: attack },
        ],
        outcomes: { c: { ...outcome, unknown: false, durationMs: 1 } },
      },
    ];
    for (const row of messages.flatMap((message) => unfoldedLines(message, { width: 80 })).map(plainText))
      assert.doesNotMatch(row, /[\p{Cc}\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\u{e0000}-\u{e007f}]/u, name);
  }
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
  assert.ok(pages.length > 10, "the thread was read at once");
  assert.equal(pages.at(-1)!.at(-2), "answer 129.");
  const expected = Array.from({ length: 130 }, (_, at) => ["You", `question ${at}.`, "", `answer ${at}.`, ""]).flat();
  assert.deepEqual(pages.flat(), expected);
  await harness.close();
});
