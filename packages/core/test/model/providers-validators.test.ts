import assert from "node:assert/strict";
import { test } from "node:test";
import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";
import {
  checkAnthropic,
  checkGemini,
  checkOpenAIChat,
  checkOpenAIResponses,
} from "../../../testkit/src/providers/index.ts";
import {
  validateAnthropic,
  validateGemini,
  validateOpenAIChat,
  validateOpenAIResponses,
} from "../../../testkit/src/providers/index.ts";

const user = (text: string): LanguageModelV4Message => ({ role: "user", content: [{ type: "text", text }] });
const says = (text: string): LanguageModelV4Message => ({ role: "assistant", content: [{ type: "text", text }] });
const calls = (...ids: string[]): LanguageModelV4Message => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "tool-call", toolCallId: id, toolName: `tool_${id}`, input: {} })),
});
const results = (...ids: string[]): LanguageModelV4Message => ({
  role: "tool",
  content: ids.map((id) => {
    return { type: "tool-result", toolCallId: id, toolName: `tool_${id}`, output: { type: "text", value: "ok" } };
  }),
});

const validators = {
  anthropic: validateAnthropic,
  chat: validateOpenAIChat,
  responses: validateOpenAIResponses,
  gemini: validateGemini,
};

function verdicts(...prompt: LanguageModelV4Prompt): Record<string, string[]> {
  return Object.fromEntries(Object.entries(validators).map(([name, validate]) => [name, validate(prompt)]));
}

const fine = { anthropic: [], chat: [], responses: [], gemini: [] };

test("a conversation with parallel calls is accepted by all four", () => {
  const prompt = [user("a"), calls("x", "y"), results("x", "y"), user("b"), says("c"), user("d")];
  assert.deepEqual(verdicts({ role: "system", content: "s" }, ...prompt), fine);
});

test("a call without its result is refused by all four", () => {
  assert.deepEqual(verdicts(user("a"), calls("x", "y"), results("x"), user("b")), {
    anthropic: ['messages.2: tool_use "y" has no tool_result'],
    chat: ['messages.3: call "y" has no result before this message'],
    responses: ['input: no tool output found for call "y"'],
    gemini: ["contents.2: 1 function responses for 2 function calls"],
  });
});

test("a result without its call is refused by all four", () => {
  assert.deepEqual(verdicts(user("a"), says("b"), results("x")), {
    anthropic: ['messages.2: tool_result "x" has no tool_use'],
    chat: ['messages.2: no call "x" precedes this result'],
    responses: ['input.2: no tool call found for output "x"'],
    gemini: ["contents.2: 1 function responses for 0 function calls"],
  });
});

test("results after a user's text are refused by providers that require them first", () => {
  assert.deepEqual(verdicts(user("a"), calls("x"), user("b"), results("x")), {
    anthropic: ["messages.2: tool_result blocks come first"],
    chat: ['messages.2: call "x" has no result before this message', 'messages.3: no call "x" precedes this result'],
    responses: [],
    gemini: [
      "contents.2: 0 function responses for 1 function calls",
      "contents.3: 1 function responses for 0 function calls",
    ],
  });
});

test("results in another order are refused by Gemini, which matches them by position", () => {
  assert.deepEqual(verdicts(user("a"), calls("x", "y"), results("y", "x")), {
    ...fine,
    gemini: ["contents.2: function responses are not in the order of the calls"],
  });
});

test("two results for one call are refused", () => {
  assert.deepEqual(verdicts(user("a"), calls("x"), results("x", "x")), {
    anthropic: ['messages.2: two results for "x"'],
    chat: ['messages.3: no call "x" precedes this result'],
    responses: ['input.3: no tool call found for output "x"'],
    gemini: ["contents.2: 2 function responses for 1 function calls"],
  });
});

test("the same call id in two answers is refused by providers that require unique ids in a request", () => {
  assert.deepEqual(verdicts(user("a"), calls("x"), results("x"), calls("x"), results("x")), {
    ...fine,
    anthropic: ['tool_use ids must be unique: "x"'],
    responses: ['input: two calls with call_id "x"'],
  });
});

test("a prompt that begins with the assistant, or ends with it, is refused", () => {
  assert.deepEqual(verdicts(says("a")), {
    anthropic: [
      "messages.0: the first message must be the user's",
      "messages: the last message is the assistant's (prefill)",
    ],
    chat: ["messages: the last message is the assistant's"],
    responses: ["input: the last item is the assistant's"],
    gemini: ["contents.0: the first turn must be the user's", "contents: the last turn is the model's"],
  });
});

test("a call right after another answer is refused by Gemini", () => {
  assert.deepEqual(verdicts(user("a"), says("b"), calls("x"), results("x")), {
    ...fine,
    gemini: ["contents.2: a function call turn must come right after a user turn or a function response turn"],
  });
});

test("empty contents are refused by all four, blank ones by Anthropic", () => {
  assert.deepEqual(verdicts({ role: "user", content: [] }), {
    anthropic: ["messages.0: content is empty"],
    chat: ["messages.0: content is empty"],
    responses: ["input.0: content is empty"],
    gemini: ["contents.0: parts are empty"],
  });
  assert.deepEqual(verdicts(user(" \n")), { ...fine, anthropic: ["messages.0: text blocks must not be blank"] });
  assert.deepEqual(verdicts(), {
    anthropic: ["messages: at least one is needed"],
    chat: ["messages: at least one is needed"],
    responses: ["input: at least one item is needed"],
    gemini: ["contents: at least one is needed"],
  });
});

const thought = (provider: string, mark: Record<string, string>): LanguageModelV4Message => ({
  role: "assistant",
  content: [
    { type: "text", text: "b" },
    { type: "reasoning", text: "hm", providerOptions: { [provider]: mark } },
  ],
});

test("reasoning at the end of an answer is refused by providers that sign it", () => {
  const signed = [user("a"), thought("anthropic", { signature: "s" }), user("c")];
  assert.deepEqual(validateAnthropic(signed), ["messages.1: the final block cannot be thinking"]);
  const stored = [user("a"), thought("openai", { itemId: "rs_1" }), user("c")];
  assert.deepEqual(validateOpenAIResponses(stored), ["input.2: reasoning without its required following item"]);
});

test("a call that another provider ran itself is refused by formats in which it looks like an ordinary call", () => {
  const hosted: LanguageModelV4Message = {
    role: "assistant",
    content: [
      { type: "tool-call", toolCallId: "srvtoolu_1", toolName: "web_search", input: {}, providerExecuted: true },
      { type: "tool-result", toolCallId: "srvtoolu_1", toolName: "web_search", output: { type: "json", value: [] } },
    ],
  };
  assert.deepEqual(verdicts(user("a"), hosted, user("b")), {
    anthropic: [],
    chat: ['messages.2: call "srvtoolu_1" has no result before this message'],
    responses: [],
    gemini: ["contents.2: 0 function responses for 1 function calls"],
  });
});

test("ids, names and arguments are checked in the request itself", () => {
  const said = { role: "user" as const, content: "a" };
  const use = { type: "tool_use", id: "a.b", name: "n".repeat(129), input: [] };
  const used = { type: "tool_result", tool_use_id: "a.b", content: [{ type: "text", text: "" }] };
  assert.deepEqual(
    checkAnthropic({ messages: [said, { role: "assistant", content: [use] }, { role: "user", content: [used] }] }),
    [
      'messages.1: bad id "a.b"',
      `messages.1: bad tool name "${"n".repeat(129)}"`,
      "messages.1: input must be an object",
      "messages.2: text blocks in a tool_result must not be blank",
    ],
  );
  const call = { id: "x", function: { name: "a b", arguments: "{" } };
  const answer = { role: "tool", tool_call_id: "x", content: "ok" };
  assert.deepEqual(checkOpenAIChat({ messages: [said, { role: "assistant", tool_calls: [call] }, answer] }), [
    'messages.1: bad function name "a b"',
    'messages.1: arguments are not JSON text: "{"',
  ]);
  const item = { type: "function_call", call_id: "x", name: "a b", arguments: "[]" };
  assert.deepEqual(checkOpenAIResponses({ input: [said, item, { type: "function_call_output", call_id: "x" }] }), [
    'input.1: bad name "a b"',
    "input.1: arguments are not JSON text",
  ]);
  const turn = { role: "model", parts: [{ functionCall: { name: "x", args: "{}" } }] };
  const back = { role: "user", parts: [{ functionResponse: { name: "x" } }, {}] };
  assert.deepEqual(checkGemini({ contents: [{ role: "user", parts: [{ text: "a" }] }, turn, back] }), [
    "contents.1: args must be an object",
    "contents.2: a part is empty",
  ]);
});

test("system messages come first, and roles alternate", () => {
  const late = { role: "system", content: "s" };
  assert.deepEqual(checkOpenAIChat({ messages: [{ role: "user", content: "a" }, late] }), [
    "messages.1: system messages must come first",
  ]);
  const said = { role: "user" as const, content: "a" };
  assert.deepEqual(checkAnthropic({ messages: [said, said] }), ["messages.1: roles must alternate"]);
});

test("a tool needs a name that the provider accepts, and an object schema", () => {
  const tool = { type: "function" as const, name: "1 x", inputSchema: { type: "string" as const } };
  const prompt = [user("a")];
  assert.deepEqual(validateAnthropic(prompt, [tool, tool]), [
    ...Array.from({ length: 2 }, () => ['tools: bad name "1 x"', "tools.1 x: the schema is not an object"]).flat(),
    'tools: "1 x" occurs twice',
  ]);
  assert.deepEqual(validateOpenAIChat(prompt, [tool]), [
    'tools: bad name "1 x"',
    "tools.1 x: the schema is not an object",
  ]);
  assert.deepEqual(validateOpenAIResponses(prompt, [tool]), [
    'tools: bad name "1 x"',
    "tools.1 x: the schema is not an object",
  ]);
  assert.deepEqual(validateGemini(prompt, [tool]), ['tools: bad name "1 x"']);
});
