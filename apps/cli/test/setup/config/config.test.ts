import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { UsageError } from "../../../src/exit.ts";
import { mergedConfig } from "../../../src/setup/config/config.ts";
import type { ConfigFile } from "../../../src/setup/config/config-file.ts";
import { loadConfig } from "../../../src/setup/load-config.ts";
import { narrowedConfig, nothingNarrowed } from "../../../src/setup/config/narrowed-config.ts";
import type { ProjectFlags } from "../../../src/setup/project.ts";
import { UserHome } from "../user-home.ts";

const load = ({ folder, env }: UserHome, flags: ProjectFlags = {}) => loadConfig({ folder, env, flags, trusted: true });

test("a mistake in a file is refused with the file, the key and what is allowed", async () => {
  const cases: [contents: string | object, message: RegExp][] = [
    [{ modle: "offline" }, /config\.json: has the unknown key "modle": did you mean "model"\?$/],
    [{ permissions: { alow: [] } }, /config\.json: "permissions" has the unknown key "alow": did you mean "allow"\?$/],
    [{ model: 5 }, /config\.json: "model" must be a text, not 5\.$/],
    [{ mode: "bild" }, /"mode" must be "plan" or "build", not "bild"\.$/],
    [{ bell: "yes" }, /"bell" must be true or false, not "yes"\.$/],
    [{ wrap: "none" }, /"wrap" must be "words" or "terminal", not "none"\.$/],
    [{ budget: { cost: 0 } }, /"budget\.cost" must be more than 0, not 0\.$/],
    [{ budget: 5 }, /"budget" must be an object with the keys steps, tokens, cost, wallMs, thread, not 5\.$/],
    [{ hosts: "example.org" }, /"hosts" must be a list, not "example\.org"\.$/],
    [{ memory: { messageTokens: 5 } }, /"memory\.messageTokens" must be at least 1000, not 5\.$/],
    [{ memory: { messageTokens: 1000.5 } }, /"memory\.messageTokens" must be a whole number, not 1000\.5\.$/],
    [{ model: "x".repeat(1_001) }, /"model" must have at most 1000 characters\.$/],
    [{ keys: { pagr: "ctrl-p" } }, /"keys" has the unknown key "pagr": did you mean "pager"\?$/],
    [{ hosts: [""] }, /"hosts\[0\]" must not be empty\.$/],
    [{ skills: ["skills"] }, /"skills\[0\]" must be an absolute path, or one that begins with "~\/"\.$/],
    [
      { permissions: { rules: [{ category: "edit", policy: "alow" }] } },
      /"permissions\.rules\[0\]\.policy" must be "allow", "ask" or "deny", not "alow"\.$/,
    ],
    [
      { permissions: { rules: [{ policy: "ask" }] } },
      /"permissions\.rules\[0\]" must have either a toolName or a category\.$/,
    ],
    [
      { permissions: { rules: [{ category: "edit" }] } },
      /"permissions\.rules\[0\]\.policy" is missing\. It must be "allow", "ask" or "deny"\.$/,
    ],
    [
      { permissions: { paths: [{ operations: ["write"], paths: ["src"], mode: "deny" }] } },
      /config\.json: "permissions\.paths": .*must begin with "\/"/,
    ],
    ["[]", /config\.json: must be an object with the keys .*model/],
    ['{ "model": }', /config\.json: this is not JSON: /],
    ['{\n  // mine\n  "bell": true\n}', /this is not JSON: .* JSON has no comments: remove them\.$/],
  ];
  for (const place of [".config/cinch/config.json", "shop/.cinch/config.json"]) {
    for (const [contents, message] of cases) {
      await using user = new UserHome();
      user.write({ [place]: contents });
      await assert.rejects(load(user), (error) => {
        assert.ok(error instanceof UsageError, String(error));
        assert.match(error.message, message);
        return error.message.startsWith(join(user.home, place));
      });
    }
  }
});

test("keys are named as the terminal reports them", async () => {
  const keys = ["ctrl-p", "alt-shift-b", "ctrl-alt-shift-up", "f12", "escape", "ctrl-space", "alt-é"];
  for (const key of keys) {
    await using user = new UserHome().write({ ".config/cinch/config.json": { keys: { pager: key } } });
    assert.deepEqual((await load(user)).config.keys, { pager: key });
  }
  for (const key of ["", "p", "ctrl+p", "Ctrl-P", "shift-p", "alt-ctrl-p", "ctrl-", "return", "f13", "ctrl-ab"]) {
    await using user = new UserHome().write({ ".config/cinch/config.json": { keys: { pager: key } } });
    await assert.rejects(load(user), /"keys\.pager" must be a key such as "ctrl-p"/, key);
  }
});

test("all mistakes of a file are reported at once", async () => {
  await using user = new UserHome().write({ ".config/cinch/config.json": { mode: "x", bell: 1 } });
  await assert.rejects(load(user), /"mode" must be .*\n.*"bell" must be true or false/);
});

test("defaults, the user, the project and the flags: the later ones count", async () => {
  await using user = new UserHome();
  const { config: defaults } = await load(user);
  assert.deepEqual(defaults, {
    mode: "build",
    yolo: false,
    sandbox: "auto",
    hosts: [],
    rules: [],
    ruleSources: ["your configuration", "the project", "the command line"].map((from) => ({ from, rules: [] })),
    paths: [],
    budget: {},
    prices: {},
    memory: {},
    skills: [],
    agents: [],
    bell: true,
    wrap: "words",
    keys: {},
  });
  user.write({
    ".config/cinch/config.json": {
      mode: "build",
      model: "offline",
      permissions: { allow: ["npm test *"], rules: [{ category: "edit", policy: "allow" }] },
      budget: { cost: 5, thread: { cost: 20 } },
      memory: { messageTokens: 10_000, observationTokens: 20_000 },
      wrap: "terminal",
      keys: { pager: "ctrl-p" },
    },
    "shop/.cinch/config.json": {
      mode: "plan",
      model: "ollama/qwen3",
      permissions: { ask: ["npm test *"], deny: ["git push *"] },
      budget: { cost: 2, steps: 50, thread: { cost: 100 } },
      memory: { messageTokens: 8_000 },
    },
  });
  const { config, models, notes } = await load(user);
  assert.deepEqual(notes, []);
  assert.deepEqual([models.user.id, models.project.id], ["offline", "ollama/qwen3"]);
  assert.deepEqual(config, {
    ...defaults,
    mode: "plan",
    rules: [
      { toolName: "execute", match: "npm test *", policy: "allow" },
      { category: "edit", policy: "allow" },
      { toolName: "execute", match: "npm test *", policy: "ask" },
      { toolName: "execute", match: "git push *", policy: "deny" },
    ],
    ruleSources: [
      {
        from: "your configuration",
        rules: [
          { toolName: "execute", match: "npm test *", policy: "allow" },
          { category: "edit", policy: "allow" },
        ],
      },
      {
        from: "the project",
        rules: [
          { toolName: "execute", match: "npm test *", policy: "ask" },
          { toolName: "execute", match: "git push *", policy: "deny" },
        ],
      },
      { from: "the command line", rules: [] },
    ],
    budget: { cost: 2, steps: 50, thread: { cost: 20 } },
    memory: { messageTokens: 8_000, observationTokens: 20_000 },
    wrap: "terminal",
    keys: { pager: "ctrl-p" },
  });
  const flags = { mode: "build", yolo: true, allow: ["npm test *"], deny: ["rm *"], budget: 9 };
  const { config: flagged } = await load(user, flags);
  assert.deepEqual([flagged.mode, flagged.yolo, flagged.budget.cost], ["build", true, 9]);
  assert.deepEqual(flagged.rules.slice(config.rules.length), [
    { toolName: "execute", match: "npm test *", policy: "allow" },
    { toolName: "execute", match: "rm *", policy: "deny" },
  ]);
  await assert.rejects(load(user, { mode: "bulid" }), { message: 'There is no mode "bulid": did you mean "build"?' });
});

test("what a project may not set is ignored, with a note that names it", async () => {
  await using user = new UserHome().write({
    "shop/.cinch/config.json": {
      yolo: true,
      sandbox: "none",
      hosts: ["example.org"],
      keys: { send: "tab" },
      skills: ["~/secrets"],
      agents: ["/tmp/agents"],
      prices: { "gpt-5.6": { input: 0, output: 0 } },
      mode: "build",
      permissions: {
        allow: ["*"],
        rules: [
          { category: "execute", policy: "allow" },
          { category: "edit", policy: "deny" },
        ],
        paths: [
          { operations: ["write"], paths: ["/.cinch/**"], mode: "ask" },
          { operations: ["read"], paths: ["/.env"], mode: "deny" },
        ],
      },
    },
    ".config/cinch/config.json": { mode: "plan" },
  });
  const { config, notes } = await load(user);
  assert.deepEqual([config.yolo, config.sandbox, config.hosts, config.mode], [false, "auto", [], "plan"]);
  assert.deepEqual([config.keys, config.skills, config.agents, config.prices], [{}, [], [], {}]);
  assert.deepEqual(config.rules, [{ category: "edit", policy: "deny" }]);
  assert.deepEqual(config.paths, [{ operations: ["read"], paths: ["/.env"], mode: "deny" }]);
  const named = notes.map((note) => /: ("\S+") is ignored: /.exec(note)?.[1]);
  assert.deepEqual(named.toSorted(), [
    '"agents"',
    '"hosts"',
    '"keys"',
    '"permissions.allow"',
    '"permissions.paths[0]"',
    '"permissions.rules[0]"',
    '"prices"',
    '"sandbox"',
    '"skills"',
    '"yolo"',
  ]);
});

const policy = fc.constantFrom("allow" as const, "ask" as const, "deny" as const);
const texts = fc.array(fc.constantFrom("npm test *", "git push *", "*"), { maxLength: 3 });
const limits = fc.record(
  { steps: fc.integer({ min: 1 }), cost: fc.integer({ min: 1 }), wallMs: fc.integer({ min: 1 }) },
  { requiredKeys: [] },
);
const anyConfig: fc.Arbitrary<ConfigFile> = fc.record(
  {
    model: fc.constant("offline"),
    mode: fc.constantFrom("plan" as const, "build" as const),
    yolo: fc.boolean(),
    sandbox: fc.constantFrom("auto" as const, "none" as const),
    hosts: texts,
    permissions: fc.record(
      {
        allow: texts,
        ask: texts,
        deny: texts,
        rules: fc.array(fc.record({ category: fc.constantFrom("edit" as const, "execute" as const), policy })),
        paths: fc.array(
          fc.record({
            operations: fc.constantFrom(["read" as const], ["write" as const]),
            paths: fc.constant(["/**"]),
            mode: policy,
          }),
        ),
      },
      { requiredKeys: [] },
    ),
    budget: fc.oneof(limits, fc.record({ thread: limits })),
    skills: texts,
    agents: texts,
    keys: fc.constant({ send: "tab" }),
    bell: fc.boolean(),
  },
  { requiredKeys: [] },
);

test("no project widens what a user permits, whatever both files say", () => {
  fc.assert(
    fc.property(anyConfig, anyConfig, (user, file) => {
      const { config: project } = narrowedConfig("config.json", file);
      const alone = mergedConfig({ user, project: nothingNarrowed, flags: {} });
      const both = mergedConfig({ user, project, flags: {} });
      const { mode: _, rules, ruleSources, paths, budget, memory: __, ...others } = both;
      const { mode, rules: rulesAlone, paths: pathsAlone, budget: budgetAlone, ...restAlone } = alone;
      const { ruleSources: ____, memory: ___, ...othersAlone } = restAlone;
      assert.deepEqual(others, othersAlone);
      assert.deepEqual(
        ruleSources.flatMap((source) => source.rules),
        rules,
      );
      assert.ok(both.mode === mode || both.mode === "plan");
      // What is added only asks and denies. Path rules are added in front, where an `ask` would hide a later `deny`.
      assert.deepEqual(rules.slice(0, rulesAlone.length), rulesAlone);
      assert.ok(rules.slice(rulesAlone.length).every(({ policy: added }) => added !== "allow"));
      const added = paths.length - pathsAlone.length;
      assert.deepEqual(paths.slice(added), pathsAlone);
      assert.ok(paths.slice(0, added).every((rule) => rule.mode === "deny"));
      for (const key of ["steps", "cost", "wallMs"] as const) {
        assert.ok((budget[key] ?? Infinity) <= (budgetAlone[key] ?? Infinity));
        assert.ok((budget.thread?.[key] ?? Infinity) <= (budgetAlone.thread?.[key] ?? Infinity));
      }
    }),
  );
});
