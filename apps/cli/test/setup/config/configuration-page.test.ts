import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { keymapOf } from "../../../src/app/keymap.ts";
import { readAgentFiles } from "../../../src/setup/agents/agent-files.ts";
import { CONFIG_KEYS } from "../../../src/setup/config/config-file.ts";
import { loadConfig } from "../../../src/setup/load-config.ts";
import { KEYS_OF_PROJECTS } from "../../../src/setup/config/narrowed-config.ts";
import { UserHome } from "../user-home.ts";

const page = readFileSync(join(import.meta.dirname, "../../../../../docs/configuration.md"), "utf8");
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(([, block = ""]) => block);

test("every file on the page about the configuration loads", async () => {
  const [ofUser = "", ofProject = ""] = blocks("json");
  await using user = new UserHome().write({
    ".config/cinch/config.json": ofUser,
    "shop/.cinch/config.json": ofProject,
    "shop/.cinch/agents/reviewer.md": blocks("md")[0]!,
  });
  const { config, notes } = await loadConfig({ folder: user.folder, env: user.env, flags: {}, trusted: true });
  assert.deepEqual([notes, config.rules.length, config.paths.length], [[], 8, 2]);
  const { agents, notes: problems } = readAgentFiles([join(user.folder, ".cinch/agents")]);
  assert.deepEqual([problems, agents[0]?.name, agents[0]?.maxSteps], [[], "reviewer", 30]);
  assert.deepEqual(agents[0]?.availableTools, ["read_file", "grep", "glob"]);
});

test("the page lists every key, and which of them a project may set", () => {
  const [, table = ""] = /^\| key \|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(page) ?? [];
  const rows = table
    .trim()
    .split("\n")
    .map((row) => row.split("|").map((cell) => cell.trim()));
  assert.deepEqual(rows.map(([, key]) => key!.replaceAll("`", "")).toSorted(), CONFIG_KEYS.toSorted());
  const ofProjects = rows.filter(([, , , may]) => may !== "no").map(([, key]) => key!.replaceAll("`", ""));
  assert.deepEqual(ofProjects.toSorted(), KEYS_OF_PROJECTS.toSorted());
});

test("the page lists every action of the app, with its key", () => {
  const [, section = ""] = page.split("## Keys of the app");
  const listed = [...section.matchAll(/^\| `([a-z-]+)` \| `([a-z-]+)` \| [a-z]/gm)].map(([, action, key]) => [
    key,
    action,
  ]);
  assert.deepEqual(new Map(listed as [string, string][]), keymapOf());
});

test("mistakes are reported as the page shows it", async () => {
  const shown = page.split("\n").filter((line) => line.startsWith("~/.config/cinch/config.json: "));
  for (const [at, contents] of [{ modle: "offline" }, { mode: "bild" }].entries()) {
    await using user = new UserHome().write({ ".config/cinch/config.json": contents });
    const message = shown[at]!.replace("~", user.home);
    await assert.rejects(loadConfig({ folder: user.folder, env: user.env, flags: {}, trusted: false }), { message });
  }
});
