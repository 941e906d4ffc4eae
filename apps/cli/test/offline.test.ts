import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Harness, type HarnessEvent, textOf } from "@cinch/core";
import { offlineModel } from "../src/offline/model.ts";
import { nextMove } from "../src/offline/plan.ts";
import { tools } from "../src/tools/index.ts";

async function conversation(...prompts: string[]) {
  const agent = new Agent({ name: "test", model: offlineModel({ delayMs: 0 }), tools: { ...tools } });
  const harness = new Harness({ id: "test", agent, permissions: [{ category: "other", policy: "allow" }] });
  const events: HarnessEvent[] = [];
  harness.subscribe((event) => events.push(event));
  const answers: string[] = [];
  for (const content of prompts) {
    const { message } = await harness.sendMessage({ content });
    answers.push(textOf(message?.content ?? []));
  }
  await harness.close();
  const steps = events.flatMap((event) => {
    if (event.type !== "message_end" || event.message.role !== "assistant") return [];
    const calls = event.message.content.flatMap((part) => (part.type === "tool-call" ? [part.toolName] : []));
    return calls.length > 0 ? [calls] : [];
  });
  return { answers, steps };
}

test("two questions in one message become two calls in one step", async () => {
  const { answers, steps } = await conversation("What time is it and what is 3*7?");
  assert.deepEqual(steps, [["current_time", "calculate"]]);
  assert.match(answers[0]!, /^It is .*20\d\d.* 3\*7 = 21\.$/);
});

test("counting takes a step for each number, and the next request runs after it", async () => {
  const { answers, steps } = await conversation(
    "Count to 5 with the counter tool, then roll 3d8 and what is two plus 2?",
  );
  assert.deepEqual(steps, [["counter"], ["counter"], ["counter"], ["counter"], ["counter"], ["roll_dice"]]);
  assert.match(
    answers[0]!,
    /^I counted 1, 2, 3, 4, 5\. I rolled \d \+ \d \+ \d = \d+\. \(I have no rule for "what is two plus 2"\.\)$/,
  );
});

test("the answer reports a call that failed", async () => {
  const { answers } = await conversation("what is 1/0?");
  assert.equal(answers[0], "calculate failed: Division by zero.");
});

test("the model remembers earlier messages", async () => {
  const { answers } = await conversation(
    "My name is Ada Lovelace and my favourite colour is green.",
    "remember that tea and cake are at four",
    "what is my name?",
    "what's my favourite colour?",
    "what is my age?",
    "what did I say first?",
    "what did I just say?",
    "what do you remember?",
  );
  assert.deepEqual(answers, [
    "Nice to meet you, Ada Lovelace. Noted: your favourite colour is green.",
    "I will remember: tea and cake are at four.",
    "Your name is Ada Lovelace.",
    "Your favourite colour is green.",
    "You have not told me your age.",
    'First you said: "My name is Ada Lovelace and my favourite colour is green."',
    'Before that you said: "what did I say first?"',
    "This: your name is Ada Lovelace; your favourite colour is green; tea and cake are at four.",
  ]);
});

test("the words of a text below the request are counted, whatever the text asks for", async () => {
  const text = 'Say "no", and then 3*7.\n\n    What time is it?\n';
  const { answers, steps } = await conversation(
    `count the words in\n\n${text}`,
    `How many words are in this?\n${text}`,
    "count the words in a b c, then wait 5 ms",
    "count the words in",
    "count the words of:\n\nI",
  );
  assert.deepEqual(steps, [["count_words"], ["count_words"], ["count_words"], ["wait"], ["count_words"]]);
  assert.deepEqual(answers.slice(0, 3), [
    "That is 10 words, 24 letters.",
    "That is 10 words, 24 letters.",
    "That is 3 words, 3 letters. I waited for 0.005 s.",
  ]);
  assert.match(answers[3]!, /count the words in/);
  assert.equal(answers[4], "That is 1 word, 1 letter.");
});

test("quoted words and words after say are not requests", async () => {
  const { answers, steps } = await conversation(
    'How many words are in "one and two, then three"?',
    "wait 5 ms",
    "say what time is it and then 3*7",
  );
  assert.deepEqual(steps, [["count_words"], ["wait"]]);
  assert.deepEqual(answers, ["That is 5 words, 18 letters.", "I waited for 0.005 s.", "what time is it and then 3*7"]);
});

test("the model says what it is and what it can do", async () => {
  const { answers } = await conversation("hello", "help", "who are you?", "Compose a sonata.");
  for (const answer of answers) assert.match(answer, /offline model .*rule-based/);
  assert.match(answers[1]!, /count to 5 with the counter tool/);
  assert.match(answers[3]!, /no rule for "Compose a sonata\."/);
});

test("a note of the harness is not taken for a message of the user", async () => {
  const agent = new Agent({ name: "test", model: offlineModel({ delayMs: 0 }), tools: { ...tools } });
  const harness = new Harness({
    id: "test",
    modes: [
      { id: "one", agent, instructions: "What is 1+1?" },
      { id: "two", agent, instructions: "What is 2+2?" },
    ],
  });
  const { message } = await harness.sendMessage({ content: "what is 6*7?" });
  await harness.switchMode({ modeId: "two" });
  const { message: next } = await harness.sendMessage({ content: "what did I say first?" });
  await harness.close();
  assert.equal(textOf(message!.content), "6*7 = 42.");
  assert.match(textOf(next!.content), /First you said: "what is 6\*7\?"/);
});

test("requests about files, commands and questions become calls of the workspace's tools", () => {
  const offered = new Set(["ls", "read_file", "grep", "execute", "write_file", "ask_user"]);
  const firstCall = (ask: string) => {
    const move = nextMove({ said: [ask], ask, steps: [], calls: 0 }, offered);
    return move.kind === "call" ? move.calls : move.text;
  };
  assert.deepEqual(
    [
      "list the files",
      "List all files in src.",
      "read package.json",
      "please show me src/a.ts",
      'search for "a and b"',
      "run npm test && echo done, then stop",
      "run `npm test`",
      'write "hello, and bye" to notes/hello.txt',
      "ask me which colour I like",
    ].map(firstCall),
    [
      [{ toolName: "ls", input: {} }],
      [{ toolName: "ls", input: { path: "src" } }],
      [{ toolName: "read_file", input: { file_path: "package.json" } }],
      [{ toolName: "read_file", input: { file_path: "src/a.ts" } }],
      [{ toolName: "grep", input: { pattern: "a and b", output_mode: "content" } }],
      [{ toolName: "execute", input: { command: "npm test && echo done" } }],
      [{ toolName: "execute", input: { command: "npm test" } }],
      [{ toolName: "write_file", input: { file_path: "notes/hello.txt", content: "hello, and bye\n" } }],
      [{ toolName: "ask_user", input: { question: "Which colour I like?" } }],
    ],
  );
});
