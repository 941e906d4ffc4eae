/** The scripted model as a language model of the AI SDK, in specification v3 or v4. */
import { plan, respond } from "./script.mjs";

export function aiSdkModel(specificationVersion, hooks) {
  const memo = {};
  const answer = (request) => parts(request, memo, hooks);
  return {
    specificationVersion,
    provider: "fake",
    modelId: "fake-model",
    supportedUrls: {},
    doStream: async (request) => ({ stream: toStream(answer(request)) }),
    doGenerate: async (request) => toResult(answer(request)),
  };
}

async function* parts(request, memo, hooks) {
  hooks.onRequest?.(flatten(request));
  yield { type: "stream-start", warnings: [] };
  let kind = "stop";
  let open = false;
  for await (const piece of respond(plan(newestFirst(request.prompt), memo), hooks)) {
    if (piece.type === "tool") {
      kind = "tool-calls";
      yield { type: "tool-call", toolCallId: piece.id, toolName: piece.name, input: JSON.stringify(piece.args) };
      continue;
    }
    if (!open) yield { type: "text-start", id: "t" };
    open = true;
    yield { type: "text-delta", id: "t", delta: piece.delta };
  }
  if (open) yield { type: "text-end", id: "t" };
  yield { type: "finish", finishReason: { unified: kind, raw: kind }, usage };
}

const usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 10, text: 10, reasoning: 0 },
};

function* newestFirst(prompt) {
  for (const { role, content } of prompt.toReversed()) {
    if (typeof content === "string") {
      if (role === "user") yield { user: content };
      continue;
    }
    for (const part of content.toReversed()) {
      if (part.type === "tool-result") yield { toolResult: String(part.output?.value ?? "") };
      else if (role === "user" && part.type === "text") yield { user: part.text };
    }
  }
}

/** One string per block of the prompt, in the order in which a provider receives them. */
function flatten({ tools = [], prompt }) {
  const blocks = [`TOOLS ${JSON.stringify(tools.map((tool) => [tool.name, tool.description, tool.inputSchema]))}`];
  let lastRole = "";
  for (const { role, content } of prompt) {
    if (role !== lastRole) blocks.push(`ROLE ${role}`);
    lastRole = role;
    if (typeof content === "string") blocks.push(JSON.stringify(content));
    else for (const { providerOptions: _, ...part } of content) blocks.push(JSON.stringify(part));
  }
  return blocks;
}

function toStream(source) {
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await source.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

async function toResult(source) {
  const result = { content: [], finishReason: undefined, usage: undefined, warnings: [] };
  let text = "";
  for await (const part of source) {
    if (part.type === "text-delta") text += part.delta;
    if (part.type === "tool-call") result.content.push(part);
    if (part.type === "finish") Object.assign(result, { finishReason: part.finishReason, usage: part.usage });
  }
  if (text) result.content.unshift({ type: "text", text });
  return result;
}
