import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, type Tool } from "@cinch/core";
import { say, script } from "@cinch/testkit";
import { fileTools } from "../../src/tools/index.ts";
import { pathRules } from "./file-desk.ts";
import { MapBackend } from "./map-backend.ts";

test("the model gets each tool with its arguments, and which of them are optional", async () => {
  const model = script(say("hi"));
  const tools = fileTools({ backend: new MapBackend(), rules: pathRules() });
  const harness = new Harness({ id: "t", agent: new Agent({ name: "a", model, tools }) });
  await harness.init();
  await harness.sendMessage({ content: "hello" });
  await harness.close();
  const listed = model.requests[0]!.tools!.flatMap((tool) => {
    if (tool.type !== "function" || !(tool.name in tools)) return [];
    const { properties = {}, required = [] } = tool.inputSchema as { properties?: object; required?: string[] };
    return [[tool.name, Object.keys(properties).join(" "), required.join(" ")]];
  });
  assert.deepEqual(listed, [
    ["ls", "path", ""],
    ["read_file", "file_path offset limit char_offset", "file_path"],
    ["write_file", "file_path content", "file_path content"],
    ["edit_file", "file_path old_string new_string replace_all", "file_path old_string new_string"],
    ["delete", "file_path", "file_path"],
    ["glob", "pattern path", "pattern"],
    ["grep", "pattern path glob output_mode regex ignore_case context max_count", "pattern"],
  ]);
});

test("tools that only read are pure, and tools that change files have the effect once", () => {
  const tools = fileTools({ backend: new MapBackend(), rules: pathRules() }) as Record<string, Tool>;
  const told = Object.entries(tools).map(([name, { category, effect }]) => `${name} ${category} ${effect}`);
  assert.deepEqual(told, [
    "ls read pure",
    "read_file read pure",
    "write_file edit once",
    "edit_file edit once",
    "delete edit once",
    "glob read pure",
    "grep read pure",
  ]);
});
