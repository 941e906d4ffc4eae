import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, type PathRule, type Policy } from "@cinch/core";
import { MemoryData, MemoryStore } from "@cinch/core/store";
import { createWorkspace, memoryBackend } from "@cinch/workspace";
import * as fc from "fast-check";
import * as z from "zod";
import { isWhole } from "../../../testkit/test/share.ts";
import { agentTree, type AgentTree, type ToolCall } from "./agent-tree.ts";

const FILES = ["/a/x", "/a/y", "/b/x", "/b/sub/z"];
const NEW = ["/a/new", "/b/sub/new"];
const contentOf = (path: string): string => `contents of ${path.replaceAll("/", "_")}`;

/** What each pattern matches, written down a second time. */
const PATTERNS: Record<string, (path: string) => boolean> = {
  "/a/**": (path) => path.startsWith("/a/"),
  "/b/sub/**": (path) => path.startsWith("/b/sub/"),
  "**/x": (path) => path.endsWith("/x"),
  "/a/y": (path) => path === "/a/y",
  "/**/new": (path) => path.endsWith("/new"),
  "/{a,b}/*": (path) => path.split("/").length === 3,
};

const rules: fc.Arbitrary<PathRule[]> = fc.array(
  fc.record({
    operations: fc.subarray<"read" | "write">(["read", "write"], { minLength: 1 }),
    paths: fc.subarray(Object.keys(PATTERNS), { minLength: 1, maxLength: 2 }),
    mode: fc.constantFrom<Policy>("allow", "ask", "deny"),
  }),
  { maxLength: 3 },
);

const setting = fc.record({
  ofWorkspace: rules,
  /** The top-level agent first. */
  levels: fc.array(rules, { minLength: 4, maxLength: 4 }),
  yolo: fc.boolean(),
  forked: fc.boolean(),
  inBackground: fc.boolean(),
  /** The process dies before the last agent touches a file, and another one continues. */
  dies: fc.boolean(),
});
type Setting = typeof setting extends fc.Arbitrary<infer S> ? S : never;

function verdicts({ ofWorkspace, levels }: Setting, operation: "read" | "write", path: string): (Policy | undefined)[] {
  const matches = (rule: PathRule) =>
    rule.operations.includes(operation) && rule.paths.some((pattern) => PATTERNS[pattern]!(path));
  return [ofWorkspace, ...levels].map((list) => list.find(matches)?.mode);
}

const isDenied = (s: Setting, operation: "read" | "write", path: string): boolean =>
  verdicts(s, operation, path).includes("deny");

/** No person answers, so a call that asks is declined. */
const mayBe = (s: Setting, operation: "read" | "write", path: string): boolean =>
  !isDenied(s, operation, path) && (s.yolo || !verdicts(s, operation, path).includes("ask"));

const STEPS: ToolCall[][] = [
  [["pause", {}]],
  FILES.map((file_path) => ["read_file", { file_path }]),
  [
    ...["/", "/a", "/b", "/b/sub"].map((path): ToolCall => ["ls", { path }]),
    ["glob", { pattern: "**" }],
    ["grep", { pattern: "contents", output_mode: "content", context: 1 }],
    ["grep", { pattern: "contents", path: "/b", output_mode: "content" }],
  ],
  NEW.map((file_path) => ["write_file", { file_path, content: "new\n" }]),
  FILES.map((file_path) => ["edit_file", { file_path, old_string: "contents", new_string: "changed" }]),
  FILES.map((file_path) => ["write_file", { file_path, content: "replaced\n" }]),
  ["/b/sub/", "/b/", "/a/", ...FILES].map((file_path) => ["delete", { file_path }]),
];

/** Never returns in a process that dies. */
const pause = (hangs: boolean, reached: () => void) =>
  defineTool({
    description: "Pauses",
    category: "control",
    effect: "pure",
    input: z.object({}),
    execute: () => {
      reached();
      return hangs ? new Promise<never>(() => {}) : "on";
    },
  });

async function played(s: Setting): Promise<{ tree: AgentTree; left: Record<string, string> }> {
  const backend = memoryBackend(Object.fromEntries(FILES.map((path) => [path, `${contentOf(path)}\n`])));
  const data = new MemoryData();
  const open = (storage: MemoryStore, hangs: boolean, reached: () => void) => {
    const workspace = createWorkspace({ backend, permissions: s.ofWorkspace });
    const tools = { pause: pause(hangs, reached) };
    const [top, ...below] = s.levels.map((permissions) => ({ permissions }));
    const levels = below.map((level, at) =>
      s.forked && at === below.length - 1
        ? { ...level, forked: true }
        : { ...level, tools: { ...workspace.tools, ...tools } },
    );
    return agentTree([{ ...top, tools }, ...levels], {
      storage,
      workspace,
      onAsk: "decline",
      permissions: [{ category: "edit", policy: "allow" }],
      initialState: { yolo: s.yolo },
    });
  };
  const first = new MemoryStore(data);
  const reached = Promise.withResolvers<void>();
  let tree = await open(first, s.dies, reached.resolve);
  const turn = tree.send(STEPS, s);
  if (s.dies) {
    turn.catch(() => undefined);
    await reached.promise;
    const threadId = tree.harness.getCurrentThreadId()!;
    first.die();
    tree = await open(new MemoryStore(data), false, () => {});
    await tree.harness.switchThread({ threadId });
    assert.equal((await tree.harness.settled()).status, "idle");
  } else assert.equal((await turn).reason, "complete");
  const left: Record<string, string> = {};
  for (const path of [...FILES, ...NEW]) {
    const held = await createWorkspace({ backend })
      .download([path])
      .catch(() => ({}) as Record<string, Uint8Array>);
    if (held[path]) left[path] = Buffer.from(held[path]).toString();
  }
  return { tree, left };
}

test("no tool reads or writes a denied path in a tree of depth 3, whatever the rules: under YOLO, in a fork, in the background, after a death", async () => {
  await fc.assert(
    fc.asyncProperty(setting, async (s) => {
      const { tree, left } = await played(s);
      for (const [at, path] of FILES.entries()) {
        const { text } = tree.answerTo(1, at);
        assert.equal(text.includes(contentOf(path)), mayBe(s, "read", path), `read ${path}: ${text}`);
      }
      for (const path of FILES.filter((one) => isDenied(s, "read", one)))
        for (const { text } of tree.all) {
          assert.ok(!text.includes(contentOf(path)), `${path} was shown: ${text}`);
          assert.ok(!new RegExp(`^(.* )?${path.slice(1)}(:|-|$)`, "m").test(text), `${path} was listed: ${text}`);
        }
      for (const [at, path] of NEW.entries()) {
        const { text } = tree.answerTo(3, at);
        if (!isDenied(s, "read", path))
          assert.equal(text.startsWith("Created"), mayBe(s, "write", path), `wrote ${path}: ${text}`);
      }
      for (const path of [...FILES, ...NEW].filter((one) => !mayBe(s, "write", one)))
        assert.equal(left[path], FILES.includes(path) ? `${contentOf(path)}\n` : undefined, `${path} was changed`);
      await tree.harness.close();
    }),
    { numRuns: isWhole ? 40 : 12 },
  );
});
