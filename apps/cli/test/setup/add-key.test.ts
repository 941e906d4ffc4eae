import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import { addKey } from "../../src/setup/add-key.ts";
import { UserHome } from "./user-home.ts";

const mock = new LLMock({ port: 0 });
before(() => mock.start());
after(() => mock.stop());
beforeEach(() => mock.clearFixtures());

type Dialog = Parameters<typeof addKey>[0];

/** A user who picks these labels and types these keys, in turn, and what the user sees. */
function userOf({ picks, types = [] }: { picks: string[]; types?: string[] }): { dialog: Dialog; seen: string[] } {
  const seen: string[] = [];
  const dialog: Dialog = {
    async pick({ title, items }) {
      seen.push(title, ...items.map(({ label, details = [] }) => [label, ...details].join(": ")));
      const label = picks.shift();
      return items.find((item) => item.label === label)?.value;
    },
    async ask({ title, hidden }) {
      assert.equal(hidden, true);
      seen.push(title);
      return types.shift();
    },
    say: (message) => void seen.push(message),
  };
  return { dialog, seen };
}

const env = (): Record<string, string> => ({ ANTHROPIC_BASE_URL: mock.url });
const REFUSED = { error: { message: "invalid x-api-key", type: "authentication_error" }, status: 401 };

test("a key that works is saved, and never shown", async () => {
  mock.onMessage(/.*/, { content: "OK" });
  await using user = new UserHome(env());
  const { dialog, seen } = userOf({ picks: ["anthropic"], types: [" sk-secret\n"] });
  assert.deepEqual(await addKey(dialog, user.env), { modelId: "anthropic/claude-sonnet-5" });
  const file = join(user.config, "keys/ANTHROPIC_API_KEY");
  assert.equal(readFileSync(file, "utf8"), "sk-secret\n");
  assert.equal(seen.at(-1), `The key is saved in ${file}, which only you can read.`);
  assert.doesNotMatch(seen.join("\n"), /sk-secret/);
  assert.match((await user.open()).model.id, /^anthropic\//);
});

test("a key that is refused is asked for again, and leaving saves nothing", async () => {
  mock.onMessage(/.*/, REFUSED);
  await using user = new UserHome(env());
  const { dialog, seen } = userOf({ picks: ["anthropic"], types: ["sk-wrong", "sk-also-wrong"] });
  assert.equal(await addKey(dialog, user.env), undefined);
  assert.equal(seen.filter((line) => line === "The key of anthropic").length, 3);
  assert.ok(seen.includes("anthropic refuses this key (401). Check that it was copied whole."), seen.join("\n"));
  assert.equal(existsSync(join(user.config, "keys")), false);
});

test("a key that could not be tried is saved only if the user wants that", async () => {
  await using user = new UserHome({ ANTHROPIC_BASE_URL: "http://127.0.0.1:1" });
  const picks = ["anthropic", "Type it again", "Save it anyway"];
  const { dialog } = userOf({ picks, types: ["sk-first", "sk-second"] });
  assert.deepEqual(await addKey(dialog, user.env), { modelId: "anthropic/claude-sonnet-5" });
  assert.equal(readFileSync(join(user.config, "keys/ANTHROPIC_API_KEY"), "utf8"), "sk-second\n");
});

test("where no key can be saved, the user is told what else to do", async () => {
  mock.onMessage(/.*/, { content: "OK" });
  await using user = new UserHome(env()).write({ ".config/cinch": "this is a file" });
  const { dialog, seen } = userOf({ picks: ["anthropic"], types: ["sk-secret"] });
  assert.equal(await addKey(dialog, user.env), undefined);
  assert.match(seen.at(-1)!, /^The key is not saved: .*\. Or set ANTHROPIC_API_KEY\.$/);
  assert.doesNotMatch(seen.join("\n"), /sk-secret/);
});

test("a provider whose key is in the environment needs none", async () => {
  await using user = new UserHome({ ...env(), ANTHROPIC_API_KEY: "sk-set" });
  const { dialog, seen } = userOf({ picks: ["anthropic"] });
  assert.equal(await addKey(dialog, user.env), undefined);
  assert.ok(seen.includes("anthropic: ANTHROPIC_API_KEY, set in the environment"), seen.join("\n"));
  assert.match(seen.at(-1)!, /^ANTHROPIC_API_KEY is set in the environment, which counts more/);
});
