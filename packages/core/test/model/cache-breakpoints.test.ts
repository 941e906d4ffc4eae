import assert from "node:assert/strict";
import { test } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import {
  Agent,
  defineTool,
  Harness,
  type AgentConfig,
  type HarnessConfig,
  type HarnessEvent,
  type LanguageModel,
  type Memory,
} from "@cinch/core";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { emptyTranscript, reduceTranscript, toPrompt } from "@cinch/core/journal";
import { LLMock } from "@copilotkit/aimock";
import { createGateway } from "ai";
import * as fc from "fast-check";
import * as z from "zod";
import { BLOB, journalsOf } from "../../../testkit/src/journal.ts";
import { checkAnthropic } from "../../../testkit/src/providers/index.ts";
import { withBreakpoints } from "../../src/model/cache-breakpoints.ts";
import { memoryParts } from "../../src/model/memory-message.ts";
import { permissions } from "../support.ts";

type Fetch = typeof globalThis.fetch;
type MakeModel = (baseURL: string, fetch: Fetch) => LanguageModel;
type Json = Record<string, unknown>;

const apiKey = "none";
const anthropic: MakeModel = (baseURL, fetch) =>
  createAnthropic({ apiKey, baseURL: `${baseURL}/v1`, fetch })("claude-sonnet-4-5");

const add = defineTool({
  description: "Adds one",
  category: "read",
  input: z.object({ a: z.number() }),
  execute: ({ a }) => `${a + 1}`,
});

interface Chat {
  agent?: Partial<AgentConfig>;
  config?: Partial<HarnessConfig>;
  /** How many calls the model makes at once, in each of its two first answers to a message. */
  calls?: number;
}

/** A harness on a real SDK and a local server, and the bodies of the requests. The model calls `add` twice, then it answers. */
async function chat(make: MakeModel, { agent = {}, config = {}, calls = 1 }: Chat = {}) {
  const mock = new LLMock({ port: 0 });
  const callsOf = (step: number) => ({
    toolCalls: Array.from({ length: calls }, (_, at) => ({
      name: "add",
      arguments: { a: at },
      id: `toolu_${step}_${at}`,
    })),
  });
  mock.on({ hasToolResult: false, sequenceIndex: 0 }, callsOf(1));
  mock.on({ hasToolResult: true, sequenceIndex: 0 }, callsOf(2));
  mock.on({}, { content: "Done." });
  await mock.start();
  const bodies: Json[] = [];
  const fetch: Fetch = (url, init) => {
    bodies.push(JSON.parse(String(init?.body)) as Json);
    return globalThis.fetch(url, init);
  };
  const model = make(mock.url, fetch);
  const tester = new Agent({ name: "tester", instructions: "Test.", tools: { add }, ...agent, model });
  const harness = new Harness({ id: "test", agent: tester, permissions, ...config });
  const seen: HarnessEvent[] = [];
  harness.subscribe((event) => seen.push(event));
  return {
    harness,
    bodies,
    seen,
    async [Symbol.asyncDispose]() {
      await harness.close();
      await mock.stop();
    },
  };
}

/** The paths of all breakpoints in a request, with their values. */
function marksIn(value: unknown, path = ""): [string, unknown][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, field]): [string, unknown][] => {
    const at = path === "" ? key : `${path}.${key}`;
    return /^cache_?control$|^cache_?point$/i.test(key) ? [[path, field]] : marksIn(field, at);
  });
}

const ephemeral = { type: "ephemeral" };
const pathsOf = (body: Json | undefined): string[] => marksIn(body).map(([path]) => path);

/** The request without its breakpoints, block by block, as text. */
function blocksOf({ system, messages }: Json): string[] {
  const plain = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value, (key, field: unknown) => (key === "cache_control" ? undefined : field)));
  const blocks = (messages as { role: string; content: unknown[] }[]).flatMap(({ role, content }) =>
    content.map((block) => JSON.stringify([role, plain(block)])),
  );
  return [JSON.stringify(plain(system ?? "")), ...blocks];
}

test("anthropic: breakpoints are after tools and system, and after the last message but one", async () => {
  await using talk = await chat(anthropic);
  await talk.harness.sendMessage({ content: "Add." });
  assert.deepEqual(talk.bodies.map(pathsOf), [
    ["system.0"],
    ["system.0", "messages.1.content.0"],
    ["system.0", "messages.3.content.0"],
  ]);
  const values = talk.bodies.flatMap((body) => marksIn(body)).map(([, value]) => value);
  assert.deepEqual(
    values,
    values.map(() => ephemeral),
  );
  const roles = (talk.bodies[2]!["messages"] as { role: string }[]).map(({ role }) => role);
  assert.deepEqual(roles, ["user", "assistant", "user", "assistant", "user"]);
  assert.deepEqual(
    talk.bodies.flatMap((body) => checkAnthropic(body as never)),
    [],
  );
});

test("anthropic: apart from the breakpoints, each request begins with the one before it", async () => {
  await using talk = await chat(anthropic);
  await talk.harness.sendMessage({ content: "Add." });
  await talk.harness.sendMessage({ content: "And now?" });
  await talk.harness.sendMessage({ content: "And then?" });
  assert.equal(talk.bodies.length, 5);
  const requests = talk.bodies.map(blocksOf);
  for (const [at, blocks] of requests.entries()) {
    const before = requests[at - 1] ?? [];
    assert.deepEqual(blocks.slice(0, before.length), before);
    assert.deepEqual(talk.bodies[at]!["tools"], talk.bodies[0]!["tools"]);
  }
});

test("anthropic: without instructions, the breakpoint of the head is at the last tool", async () => {
  await using talk = await chat(anthropic, { agent: { instructions: "" } });
  await talk.harness.sendMessage({ content: "Add." });
  const last = (talk.bodies[0]!["tools"] as Json[]).length - 1;
  assert.deepEqual(talk.bodies.map(pathsOf), [
    [`tools.${last}`],
    ["messages.1.content.0", `tools.${last}`],
    ["messages.3.content.0", `tools.${last}`],
  ]);
});

test("anthropic: a breakpoint is after the observations, also where the kept messages follow them", async () => {
  const memory: Memory = {
    plan: ({ isRequested, boundaries, fromSeq }) => ({
      cut: isRequested ? { kind: "summarise", range: [fromSeq, boundaries.at(-1)!.seq], reason: "requested" } : null,
      observe: null,
      reflect: null,
    }),
    summarise: async () => "They added.",
  };
  await using talk = await chat(anthropic, { config: { memory } });
  await talk.harness.sendMessage({ content: "Add." });
  await talk.harness.compact();
  await talk.harness.sendMessage({ content: "And now?" });
  await talk.harness.sendMessage({ content: "And then?" });
  const [first, second] = talk.bodies.slice(-2);
  const [message] = first!["messages"] as { content: { text: string }[] }[];
  const texts = message!.content.map(({ text }) => text.split(/[\s.]/)[0]);
  assert.deepEqual(texts, ["Earlier", "<summary", "Add", "And"]);
  assert.deepEqual(pathsOf(first), ["system.0", "messages.0.content.1"]);
  assert.deepEqual(pathsOf(second), ["system.0", "messages.0.content.1", "messages.1.content.0"]);
  assert.deepEqual(blocksOf(second!).slice(0, blocksOf(first!).length), blocksOf(first!));
});

test("anthropic: after many parallel calls, there is a breakpoint within reach of the cached beginning", async () => {
  await using talk = await chat(anthropic, { calls: 15 });
  await talk.harness.sendMessage({ content: "Add." });
  assert.deepEqual(talk.bodies.map(pathsOf), [
    ["system.0"],
    ["system.0", "messages.1.content.14"],
    ["system.0", "messages.2.content.14", "messages.3.content.14"],
  ]);
});

test("anthropic: what the caller sets stays, gives the lifetime, and there are never more than four breakpoints", async () => {
  const cacheControl = { type: "ephemeral", ttl: "1h" };
  const settings = { providerOptions: { anthropic: { cacheControl, sendReasoning: false } } };
  await using talk = await chat(anthropic, { agent: { settings }, calls: 15 });
  await talk.harness.sendMessage({ content: "Add." });
  const marks = { "": cacheControl, "system.0": cacheControl, "messages.3.content.14": cacheControl };
  assert.deepEqual(Object.fromEntries(marksIn(talk.bodies[2])), marks);
});

test("anthropic: breakpoints are not recorded", async () => {
  await using talk = await chat(anthropic);
  await talk.harness.sendMessage({ content: "Add." });
  assert.ok(talk.bodies.some((body) => pathsOf(body).length > 1));
  assert.doesNotMatch(JSON.stringify(talk.seen), /cache_?control/i);
});

const others: Record<string, MakeModel> = {
  "openai chat": (baseURL, fetch) => createOpenAI({ apiKey, baseURL: `${baseURL}/v1`, fetch }).chat("gpt-4.1"),
  "openai responses": (baseURL, fetch) => createOpenAI({ apiKey, baseURL: `${baseURL}/v1`, fetch }).responses("gpt-5"),
  google: (baseURL, fetch) =>
    createGoogleGenerativeAI({ apiKey, baseURL: `${baseURL}/v1beta`, fetch })("gemini-2.5-flash"),
};

for (const [name, make] of Object.entries(others))
  test(`${name}: requests have no breakpoints`, async () => {
    await using talk = await chat(make);
    const { reason } = await talk.harness.sendMessage({ content: "Add." });
    assert.deepEqual([reason, talk.bodies.length], ["complete", 3]);
    for (const body of talk.bodies) {
      assert.deepEqual(pathsOf(body), []);
      assert.doesNotMatch(JSON.stringify(body), /anthropic|ephemeral/);
    }
  });

/** The body of one request. The server refuses it. */
async function bodyOf(make: (fetch: Fetch) => LanguageModel): Promise<Json> {
  const bodies: Json[] = [];
  const fetch: Fetch = async (_, init) => {
    bodies.push(JSON.parse(String(init?.body)) as Json);
    return new Response('{"error":{"message":"No.","type":"invalid_request_error"}}', { status: 400 });
  };
  const harness = new Harness({ id: "t", agent: new Agent({ name: "a", model: make(fetch), instructions: "Test." }) });
  await harness.sendMessage({ content: "Hello" });
  await harness.close();
  return bodies[0]!;
}

test("Anthropic's models behind a gateway or another provider get breakpoints, other models there do not", async () => {
  const behindGateway = (id: string) => (fetch: Fetch) =>
    createGateway({ apiKey, baseURL: "http://gateway", fetch })(id);
  const viaGateway = await bodyOf(behindGateway("anthropic/claude-sonnet-4.5"));
  assert.deepEqual(marksIn(viaGateway), [["prompt.0.providerOptions.anthropic", ephemeral]]);
  assert.deepEqual(pathsOf(await bodyOf(behindGateway("openai/gpt-5"))), []);
  for (const name of ["bedrock.anthropic.messages", "vertex.anthropic.messages"])
    assert.deepEqual(
      pathsOf(await bodyOf((fetch) => createAnthropic({ apiKey, name, fetch })("claude-sonnet-4-5"))),
      ["system.0"],
      name,
    );
});

test("anthropic: a request for any prefix of any journal is valid with its breakpoints, and has at most four", async () => {
  const model = { provider: "anthropic.messages", modelId: "claude-sonnet-4-5" };
  const tools = [{ type: "function" as const, name: "read_file", inputSchema: { type: "object" as const } }];
  await fc.assert(
    fc.asyncProperty(journalsOf("anthropic.messages"), fc.nat(), fc.boolean(), async (events, at, hasSystem) => {
      const prefix = events.slice(0, 1 + (at % events.length));
      const transcript = prefix.reduce(reduceTranscript, emptyTranscript);
      const head = { system: hasSystem ? "You are a test." : "", tools };
      const prompt = await toPrompt(head, transcript, async () => BLOB);
      const before = JSON.stringify(prompt);
      const marked = withBreakpoints(
        { prompt, tools },
        { model, settings: {}, memoryParts: memoryParts(transcript.memory) },
      );
      assert.equal(JSON.stringify(prompt), before, "the prompt itself is not changed");
      const [plain, body] = await Promise.all([wireOf({ prompt, tools }), wireOf(marked)]);
      assert.deepEqual([blocksOf(body), checkAnthropic(body as never)], [blocksOf(plain), []]);
      const paths = pathsOf(body);
      assert.ok(paths.length >= 1 && paths.length <= 4, paths.join(", "));
    }),
    { numRuns: 150 },
  );
});

/** The body that the real SDK makes. */
async function wireOf(request: Parameters<LanguageModelV4["doStream"]>[0]): Promise<Json> {
  const bodies: Json[] = [];
  const fetch: Fetch = async (_, init) => {
    bodies.push(JSON.parse(String(init?.body)) as Json);
    return new Response("{}", { status: 400 });
  };
  const asked = createAnthropic({ apiKey, fetch })("claude-sonnet-4-5").doStream(request);
  await Promise.resolve(asked).catch(() => undefined);
  return bodies[0]!;
}
