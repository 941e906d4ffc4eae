import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, defineTool, Harness, memoryStore } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import { exportAs, exportFrom, exportText, readThread } from "../../src/export/index.ts";
import { hostile } from "../terminal/hostile.ts";
import { emptyThread, message, threadFull } from "./thread.ts";

// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

const thread = {
  ...emptyThread,
  title: "fix the *sum*",
  modelId: "offline",
  cost: 0.125,
  messages: [
    message("user", [{ type: "text", text: "why does it fail?\n# really" }]),
    message(
      "assistant",
      [
        { type: "reasoning", text: "let me see" },
        { type: "text", text: "I look.\n\n```js\nsum(1)\n```" },
        { type: "tool-call", toolCallId: "a", toolName: "execute", input: { command: "npm test" } },
        { type: "tool-call", toolCallId: "b", toolName: "edit_file", input: { path: "/sum.ts", text: "a\nb" } },
        { type: "tool-call", toolCallId: "c", toolName: "wait", input: {} },
      ],
      {
        outcomes: {
          a: { result: { content: "1 failed\n```\n" }, isError: true, unknown: false, durationMs: 2_500 },
          b: {
            result: { content: "done", details: { diff: "-a\n+b" } },
            isError: false,
            unknown: false,
            durationMs: 3,
          },
        },
      },
    ),
  ],
  ends: [{ seq: 9, reason: "aborted" as const, message: null }],
};

test("Markdown has headings for who spoke, and what tools did in code blocks", () => {
  assert.equal(
    exportAs("markdown", thread),
    `# fix the \\*sum\\*

thread_a · 2026-11-16 09:05 UTC · 2 messages · 0 tokens · $0.13 · offline

## You · 2026-11-16 09:05 UTC

why does it fail?
# really

## cinch · 2026-11-16 09:05 UTC

> let me see

I look.

\`\`\`js
sum(1)
\`\`\`

**execute** [failed (2.5 s)]

\`\`\`
npm test
\`\`\`

\`\`\`\`text
1 failed
\`\`\`
\`\`\`\`

**edit\\_file** [ok]

\`\`\`
path: /sum.ts
text:
    a
    b
\`\`\`

\`\`\`diff
-a
+b
\`\`\`

**wait** [open]

*The turn ended: aborted*
`,
  );
});

test("text has the same without marks, for a terminal", () => {
  assert.equal(
    exportText(thread),
    `fix the *sum*
thread_a · 2026-11-16 09:05 UTC · 2 messages · 0 tokens · $0.13 · offline

You
  why does it fail?
  # really

cinch
  (thought) let me see
  I look.

  \`\`\`js
  sum(1)
  \`\`\`
  [failed (2.5 s)] execute npm test
    1 failed
    \`\`\`
  [ok] edit_file
    path: /sum.ts
    text:
        a
        b
    -a
    +b
  [open] wait

-- The turn ended: aborted
`,
  );
});

test("the answers of one turn are one section, and inputs are not", () => {
  const said = (text: string, seq: number) => message("assistant", [{ type: "text", text }], { seq });
  const asked = (text: string, seq: number) => message("user", [{ type: "text", text }], { seq });
  const messages = [
    asked("one", 1),
    asked("two", 2),
    said("three", 3),
    said("four", 4),
    asked("five", 5),
    said("six", 6),
  ];
  const [, ...sections] = exportText({ ...emptyThread, messages }).split("\n\n");
  assert.deepEqual(sections, ["You\n  one", "You\n  two", "cinch\n  three\n  four", "You\n  five", "cinch\n  six\n"]);
});

test("HTML shows code and diffs, links only to the web, and loads nothing", () => {
  const answer = [
    "A [link](https://example.org/?a=1&b=2), [no link](javascript:alert(1)), <b>bold</b>, ![image](https://example.org/i.png)",
    '<script>alert("x")</script>',
    "<pre>raw <i>text</i></pre>",
  ].join("\n\n");
  const html = exportAs("html", {
    ...thread,
    messages: [...thread.messages, message("assistant", [{ type: "text", text: answer }])],
  });
  assert.match(html, /<pre><code>sum\(1\)\n<\/code><\/pre>/);
  assert.match(html, /<pre class="diff"><del>-a<\/del>\n<ins>\+b<\/ins><\/pre>/);
  assert.match(html, /<a href="https:\/\/example\.org\/\?a=1&amp;b=2" rel="noreferrer">link<\/a>, no link,/);
  assert.match(html, /&lt;b&gt;bold&lt;\/b&gt;, <a href="https:\/\/example\.org\/i\.png" rel="noreferrer">image<\/a>/);
  assert.match(html, /&lt;script&gt;alert\(&quot;x&quot;\)&lt;\/script&gt;/);
  assert.match(html, /prefers-color-scheme: dark/);
  assert.doesNotMatch(html, /<script|<img|<link|@import|url\(/);
});

test("HTML contains small images of kinds that hold no script, and names the others", async () => {
  const store = memoryStore();
  const agent = new Agent({ name: "a", model: script(say("Seen.")) });
  const harness = new Harness({ id: "h", storage: store, agent });
  const bytes = (length: number) => new Uint8Array(length).fill(7);
  const files = [
    { mediaType: "image/png", filename: "small.png", data: bytes(3) },
    { mediaType: "image/png", filename: "large.png", data: bytes(2_000_001) },
    { mediaType: "image/svg+xml", filename: "drawing.svg", data: bytes(4) },
  ];
  await harness.sendMessage({ content: "look", files });
  const record = (await store.thread(harness.getCurrentThreadId()!))!;
  const html = await exportFrom(store, record, "html");
  assert.deepEqual(html.match(/<img .*?>/g), ['<img src="data:image/png;base64,BwcH" alt="small.png">']);
  for (const { filename } of files) assert.ok(html.includes(`File: ${filename}`));
  assert.match(html, /default-src 'none'; img-src data:;/);
  assert.doesNotMatch(await exportFrom(store, record, "markdown"), /base64/);
  await harness.close();
});

test("no control character leaves a thread, in any format", () => {
  for (const [attack, text] of Object.entries(hostile)) {
    const full = threadFull(text);
    for (const written of [exportText(full), exportAs("markdown", full), exportAs("html", full)])
      assert.doesNotMatch(written, CONTROL, attack);
    const json = exportAs("json", full);
    assert.doesNotMatch(json.replaceAll("\n", ""), CONTROL, attack);
    assert.deepEqual(JSON.parse(json), full, attack);
  }
});

test("what was run is shown with code points for what a reader can't see", () => {
  const full = threadFull("rm \u202ecod.txt\u200b");
  for (const written of [exportText(full), exportAs("markdown", full), exportAs("html", full)])
    assert.match(written, /rm (<|&lt;)U\+202E(>|&gt;)cod\.txt(<|&lt;)U\+200B(>|&gt;)/);
});

test("a thread is read from its journal with all messages and outcomes, and is not opened", async () => {
  const store = memoryStore();
  const add = defineTool({
    description: "Adds.",
    category: "read",
    input: { type: "object" },
    execute: () => ({ content: "3", details: { sum: 3 } }),
  });
  const script250 = script(call("add", { a: 1 }), ...Array.from({ length: 125 }, (_, at) => say(`answer ${at}`)));
  const agent = new Agent({ name: "a", model: script250, tools: { add } });
  const harness = new Harness({ id: "h", storage: store, agent });
  const { id } = await harness.createThread({ title: "sums" });
  for (let at = 0; at < 125; at++) await harness.sendMessage({ content: `question ${at}` });
  const before = await store.read(id);
  const exported = await readThread(store, (await store.thread(id))!);
  assert.deepEqual(await store.read(id), before);
  assert.deepEqual([exported.title, exported.status, exported.ends], ["sums", "idle", []]);
  assert.equal(exported.messages.length, 251);
  assert.deepEqual(
    exported.messages.map(({ seq }) => seq),
    exported.messages.map(({ seq }) => seq).toSorted((one, other) => one - other),
  );
  const [outcome] = Object.values(exported.messages[1]!.outcomes);
  assert.deepEqual([outcome?.result, outcome?.isError], [{ content: "3", details: { sum: 3 } }, false]);
  assert.ok(exported.usage.inputTokens > 0);
  assert.deepEqual(exported.messages.slice(-200), harness.getDisplayState().messages);
  await harness.close();
});
