import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { Agent, CinchError, Harness } from "@cinch/core";
import { loadProfiles } from "@cinch/memory";
import { say, script } from "@cinch/testkit";

/** A folder with these files, deleted at the end of the test. */
function folderOf(files: Record<string, unknown>): Disposable & { path(name: string): string } {
  const root = mkdtempSync(join(tmpdir(), "cinch-profiles-"));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  return {
    path: (name) => join(root, name),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true, maxRetries: 9 }),
  };
}

/** What a model of this provider is asked. */
async function systemFor(provider: string, modelId = "m"): Promise<unknown> {
  const model = Object.assign(script(say("Hi.")), { provider, modelId });
  const harness = new Harness({ id: "t", agent: new Agent({ name: "a", model, instructions: "Test." }) });
  await harness.sendMessage({ content: "Hello" });
  await harness.close();
  const [first] = model.requests[0]!.prompt;
  return first?.role === "system" && first.content;
}

test("the profiles of files are registered, in order, until they are unregistered", async () => {
  using folder = folderOf({
    "one.json": { loaded: { systemPromptSuffix: "One." }, "loaded:m2": { systemPromptSuffix: "Of m2." } },
    "two.json": { loaded: { systemPromptSuffix: "Two." } },
  });
  const unregister = await loadProfiles([
    pathToFileURL(folder.path("one.json")),
    relative(process.cwd(), folder.path("two.json")),
  ]);
  assert.equal(await systemFor("loaded.chat"), "Test.\n\nTwo.");
  assert.equal(await systemFor("loaded.chat", "m2"), "Test.\n\nOf m2.");
  unregister();
  assert.equal(await systemFor("loaded.chat"), "Test.");
});

test("a package lists its files in its package.json, and none of its code runs", async () => {
  using folder = folderOf({
    "node_modules/@acme/profiles/package.json": {
      name: "@acme/profiles",
      exports: { ".": "./index.js" },
      cinch: { profiles: ["./profiles/base.json"] },
    },
    "node_modules/@acme/profiles/index.js": "throw new Error('This must not run.');",
    "node_modules/@acme/profiles/profiles/base.json": { packed: { systemPromptSuffix: "Packed." } },
    "node_modules/empty/package.json": { name: "empty", exports: { ".": "./index.js" } },
  });
  const before = process.cwd();
  process.chdir(folder.path("."));
  try {
    const unregister = await loadProfiles("@acme/profiles");
    assert.equal(await systemFor("packed.chat"), "Test.\n\nPacked.");
    unregister();
    await assert.rejects(loadProfiles("empty"), invalid(/empty\/package\.json: it lists no profiles\. Add "cinch"/));
    await assert.rejects(loadProfiles("missing"), invalid(/missing: there is no such package/));
  } finally {
    process.chdir(before);
  }
});

const invalid = (message: RegExp) => (error: unknown) =>
  error instanceof CinchError && error.code === "INVALID_CONFIG" && message.test(error.message);

const broken: Record<string, [content: unknown, message: RegExp]> = {
  "is not JSON": ["{ nope", /bad\.json: it is not valid JSON/],
  "is a list": [[], /bad\.json: it must hold an object with profiles by key/],
  "has a bad key": [{ "open ai": {} }, /bad\.json: .*"open ai" is not a key/],
  "has an unknown key in a profile": [
    { broken: { excludedTool: [] } },
    /bad\.json: Profile "broken": .*Unknown key "excludedTool": did you mean "excludedTools"/,
  ],
  "has a value of the wrong type": [
    { broken: { excludedTools: "task" } },
    /bad\.json: Profile "broken".*excludedTools/s,
  ],
  "has extraTools": [
    { broken: { extraTools: {} } },
    /bad\.json: Profile "broken": extraTools are code, which JSON can't hold\. Pass them to registerProfile/,
  ],
};

for (const [what, [content, message]] of Object.entries(broken))
  test(`a file that ${what} is an error with the file and the key, and no profile is registered`, async () => {
    using folder = folderOf({ "good.json": { loaded: { systemPromptSuffix: "Good." } }, "bad.json": content });
    await assert.rejects(loadProfiles([folder.path("good.json"), folder.path("bad.json")]), invalid(message));
    assert.equal(await systemFor("loaded.chat"), "Test.");
  });

test("a file that is not there, and what is no file and no package, are errors", async () => {
  await assert.rejects(
    loadProfiles("/nowhere/profiles.json"),
    invalid(/\/nowhere\/profiles\.json: it can't be read: ENOENT/),
  );
  await assert.rejects(
    loadProfiles(""),
    invalid(/neither the path of a file that ends in \.json nor the name of a package/),
  );
  await assert.rejects(loadProfiles(new URL("https://example.com/p.json")), invalid(/neither the path/));
  await assert.rejects(loadProfiles("./profiles"), invalid(/\.\/profiles: this is neither the path/));
  for (const none of [7, undefined, null, {}]) {
    await assert.rejects(loadProfiles(none as never), invalid(/neither the path/));
    await assert.rejects(loadProfiles([none as never]), invalid(/neither the path/));
  }
});
