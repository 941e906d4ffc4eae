import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import type { Env } from "../../src/models/providers.ts";
import { exposedKeys, saveKey, withSavedKeys } from "../../src/setup/key-files.ts";
import { providersForSetup, tryKey } from "../../src/setup/keys.ts";
import { UserHome } from "./user-home.ts";

const mock = new LLMock({ port: 0 });
before(() => mock.start());
after(() => mock.stop());
beforeEach(() => {
  mock.clearFixtures();
  mock.clearRequests();
});

const KEY = "sk-typed-by-a-user";
const NAMES = ["anthropic", "openai", "google"];
const serverAt = (url: string): Env => ({
  ANTHROPIC_BASE_URL: url,
  OPENAI_BASE_URL: url,
  GOOGLE_GEMINI_BASE_URL: `${url}/v1beta`,
});

/** A server that answers every request in this way. */
async function server(
  answer: Parameters<typeof createServer>[1],
): Promise<{ url: string; server: Server } & Disposable> {
  const made = createServer(answer!).listen(0, "127.0.0.1");
  await new Promise((resolve) => made.once("listening", resolve));
  const url = `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
  return { url, server: made, [Symbol.dispose]: () => (made.closeAllConnections(), made.close()) };
}

test("a key that works is tried with one request to its provider", async () => {
  mock.onMessage(/.*/, { content: "OK" });
  for (const name of NAMES) {
    mock.clearRequests();
    assert.deepEqual(await tryKey(name, KEY, { env: serverAt(mock.url) }), { kind: "works" }, name);
    const [request, ...more] = mock.getRequests();
    assert.deepEqual(more, [], name);
    assert.ok(JSON.stringify(request!.body).length < 2_000);
  }
});

test("a key that the provider refuses is not saved, and the message does not have it", async () => {
  const answers: Record<string, [status: number, body: object]> = {
    anthropic: [401, { type: "error", error: { type: "authentication_error", message: `invalid x-api-key ${KEY}` } }],
    openai: [
      401,
      {
        error: {
          message: `Incorrect API key provided: ${KEY}`,
          type: "invalid_request_error",
          code: "invalid_api_key",
        },
      },
    ],
    google: [
      400,
      {
        error: {
          code: 400,
          message: "API key not valid.",
          status: "INVALID_ARGUMENT",
          details: [{ reason: "API_KEY_INVALID" }],
        },
      },
    ],
  };
  for (const name of NAMES) {
    const [status, body] = answers[name]!;
    using refusing = await server((_, response) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
    const message = `${name} refuses this key (${status}). Check that it was copied whole.`;
    assert.deepEqual(await tryKey(name, KEY, { env: serverAt(refusing.url) }), { kind: "refused", message });
  }
});

test("an answer that says nothing of the key leaves the choice to the user", async () => {
  using busy = await server((_, response) => {
    response
      .writeHead(529, { "content-type": "application/json" })
      .end(JSON.stringify({ type: "error", error: { type: "overloaded_error", message: `busy ${KEY}` } }));
  });
  const trial = await tryKey("anthropic", KEY, { env: serverAt(busy.url) });
  assert.equal(trial.kind, "unsure");
  assert.match((trial as { message: string }).message, /^anthropic did not accept the request \(529\): busy …$/);
  assert.doesNotMatch(JSON.stringify(trial), new RegExp(KEY));
});

test("a provider that can't be reached is said to be that, and leaves the choice to the user", async () => {
  for (const name of NAMES) {
    const trial = await tryKey(name, KEY, { env: serverAt("http://127.0.0.1:1") });
    assert.equal(trial.kind, "unsure", name);
    assert.match((trial as { message: string }).message, new RegExp(`^${name} could not be reached: `));
    assert.doesNotMatch(JSON.stringify(trial), new RegExp(KEY));
  }
});

test("a provider that does not answer is given up", async () => {
  using silent = await server(() => {});
  const trial = await tryKey("anthropic", KEY, { env: serverAt(silent.url), timeoutMs: 100 });
  assert.deepEqual(trial, { kind: "unsure", message: "anthropic did not answer within 0.1 s." });
});

test("what can't be a key is refused without a request", async () => {
  for (const key of ["", "two words", "a\nb", "schlüssel"])
    assert.equal((await tryKey("anthropic", key, { env: serverAt(mock.url) })).kind, "refused", key);
  assert.deepEqual(mock.getRequests(), []);
});

test("a saved key counts unless the environment has one", async () => {
  await using user = new UserHome();
  const { env } = user;
  assert.deepEqual(
    providersForSetup(env).map(({ name, hasKey }) => [name, hasKey]),
    NAMES.map((name) => [name, false]),
  );
  saveKey("ANTHROPIC_API_KEY", KEY, env);
  assert.equal(withSavedKeys(env)["ANTHROPIC_API_KEY"], KEY);
  assert.equal(withSavedKeys({ ...env, ANTHROPIC_API_KEY: "other" })["ANTHROPIC_API_KEY"], "other");
  assert.equal(withSavedKeys({ ...env, ANTHROPIC_API_KEY: " " })["ANTHROPIC_API_KEY"], KEY);
  assert.equal(providersForSetup(env)[0]!.hasKey, true);
});

test("only the user can read a saved key, whatever the umask and an earlier file were", async () => {
  await using user = new UserHome();
  const keys = join(user.config, "keys");
  mkdirSync(keys, { recursive: true });
  user.write({ ".config/cinch/keys/OPENAI_API_KEY": "old" });
  assert.match(exposedKeys(user.env)[0]!, /can be read by other users\. Run: chmod 600 .*OPENAI_API_KEY$/);
  const mask = process.umask(0);
  try {
    saveKey("OPENAI_API_KEY", KEY, user.env);
  } finally {
    process.umask(mask);
  }
  assert.equal(statSync(join(keys, "OPENAI_API_KEY")).mode & 0o777, 0o600);
  assert.deepEqual(exposedKeys(user.env), []);
  assert.deepEqual(readdirSync(keys), ["OPENAI_API_KEY"]);
  assert.equal(readFileSync(join(keys, "OPENAI_API_KEY"), "utf8"), `${KEY}\n`);
});
