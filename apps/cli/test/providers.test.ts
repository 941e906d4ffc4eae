import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import { Place, type Finished } from "./cli.ts";

const mock = new LLMock({ port: 0 });
before(() => mock.start());
after(() => mock.stop());

interface Case {
  model: string;
  key: string;
  url: string;
}

const cases: Case[] = [
  { model: "anthropic/claude-sonnet-5", key: "ANTHROPIC_API_KEY", url: "ANTHROPIC_BASE_URL" },
  { model: "openai/gpt-5.6", key: "OPENAI_API_KEY", url: "OPENAI_BASE_URL" },
];
const compatible: Case = { model: "openai-compatible/some/model", key: "CINCH_API_KEY", url: "CINCH_BASE_URL" };

/** Runs `cinch run` with this provider, served by the mock. */
async function say({ model, key, url }: Case, place: Place, ...args: string[]): Promise<Finished> {
  return place.run(["run", ...args, "--model", model], { env: { [key]: "a-key", [url]: mock.url } });
}

describe("providers", { concurrency: 4 }, () => {
  for (const provider of cases) {
    test(`a budget in dollars binds ${provider.model}`, async () => {
      const userMessage = `cheaply ${provider.model}`;
      mock.on({ userMessage }, { content: "Done." });
      await using place = new Place();
      const { stdout, stderr, code } = await say(provider, place, "--budget", "2", userMessage);
      assert.deepEqual([stdout, code], ["Done.\n", 0], stderr);
    });
  }

  test("with a budget in dollars, a model without a price is not asked, and the error says how to give the price", async () => {
    const userMessage = "cheaply, at an unknown price";
    await using place = new Place();
    const { stdout, stderr, code } = await say(compatible, place, "--budget", "2", userMessage);
    assert.deepEqual([stdout, code], ["", 1], stderr);
    assert.match(stderr, /price of "openai-compatible\/some\/model" is unknown/);
    assert.match(stderr, /Add \{ "some\/model": \{ "input": …, "output": … \} \} to "prices"/);
    const asked = mock.getRequests().filter(({ body }) => JSON.stringify(body).includes(userMessage));
    assert.deepEqual(asked, []);
  });

  for (const provider of [...cases, compatible]) {
    const { model } = provider;

    test(`${model} answers, and gets the earlier messages`, async () => {
      mock.onMessage(`hello ${model}`, { content: "Hello from the other side." });
      mock.on({ userMessage: `again ${model}`, turnIndex: 1 }, { content: "Welcome back." });
      await using place = new Place();
      const first = await say(provider, place, `hello ${model}`);
      assert.deepEqual([first.stdout, first.code], ["Hello from the other side.\n", 0], first.stderr);
      const second = await say(provider, place, "--continue", `again ${model}`);
      assert.deepEqual([second.stdout, second.code], ["Welcome back.\n", 0], second.stderr);
    });

    test(`${model} calls a tool and answers from its result`, async () => {
      const userMessage = `six times seven ${model}`;
      mock.on({ userMessage, hasToolResult: true, toolResultContains: "42" }, { content: "It is 42." });
      mock.on({ userMessage }, { toolCalls: [{ name: "calculate", arguments: '{"expression":"6*7"}' }] });
      await using place = new Place();
      const { stdout, stderr, code } = await say(provider, place, userMessage);
      assert.deepEqual([stdout, code], ["It is 42.\n", 0], stderr);
      assert.match(stderr, /→ calculate \{"expression":"6\*7"\}\n← calculate: 42\n/);
      assert.deepEqual(
        place.ledgerEntries().map(({ what }) => what),
        ["begin", "end"],
      );
    });
  }

  for (const provider of cases) {
    const { model } = provider;

    test(`a request to ${model} is retried when its answer is cut off at the beginning`, async () => {
      const userMessage = `break early ${model}`;
      mock.on({ userMessage, sequenceIndex: 0 }, { content: "This is cut off." }, { truncateAfterChunks: 1 });
      mock.on({ userMessage }, { content: "Whole." });
      await using place = new Place();
      const { stdout, stderr, code } = await say(provider, place, userMessage);
      assert.deepEqual([stdout, code], ["Whole.\n", 0], stderr);
      assert.match(stderr, /^retry 1 in \d\.\d s: /m);
    });

    test(`a request to ${model} is retried when its answer is cut off after some of it was printed`, async () => {
      const userMessage = `break late ${model}`;
      const broken = { chunkSize: 4, latency: 30, truncateAfterChunks: 8 };
      mock.on({ userMessage, sequenceIndex: 0 }, { content: "This is cut off somewhere in the middle." }, broken);
      mock.on({ userMessage }, { content: "Whole." });
      await using place = new Place();
      const { stdout, stderr, code } = await say(provider, place, userMessage);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^This .*\nWhole\.\n$/);
      assert.match(stderr, /the answer was interrupted and starts again/);
    });
  }

  test("a key that the provider refuses is an error that says what to check", async () => {
    await using place = new Place();
    const userMessage = "refuse me";
    mock.on({ userMessage }, { error: { message: "invalid x-api-key", type: "authentication_error" }, status: 401 });
    const { stdout, stderr, code } = await say(cases[0]!, place, userMessage);
    assert.deepEqual([stdout, code], ["", 1], stderr);
    assert.match(stderr, /^error: .*Check the API key.*\(PROVIDER_AUTH\)$/m);
  });
});
