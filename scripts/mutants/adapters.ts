import { inPackage, type Mutant } from "./mutant.ts";

const test = (name: string): string => `packages/server/test/adapters/${name}.test.ts`;
const USE_CHAT = [test("ai-sdk/use-chat")];
const STREAMS = [test("ai-sdk/chat-streams")];
const BLOCKS = [test("streamed-blocks")];
const CHUNKS = [test("ai-sdk/chunk-fold")];
const AG_UI = [test("ag-ui/http-agent"), test("ag-ui/run-fold")];
const ACP = ["apps/cli/test/acp/acp.test.ts"];

/** What clients of other protocols get, and what they may do. */
export const adapters: Mutant[] = [
  ...inPackage("packages/server", [
    {
      attacks: "adapters: a block without text takes the place of the text after it",
      file: "adapters/placed-texts.ts",
      find: ' && part.text !== "")',
      replace: ")",
      tests: BLOCKS,
    },
    {
      attacks: "adapters: a text that the complete message lacks is never ended",
      file: "adapters/placed-texts.ts",
      find: "left: [...waiting.text, ...waiting.reasoning].toSorted((a, b) => a - b)",
      replace: "left: []",
      tests: BLOCKS,
    },
    {
      attacks: "adapters: the stream of a message outlives its thread",
      file: "adapters/turn-taking.ts",
      find: '    if (event.type === "thread_deleted") return deleted;\n',
      replace: "",
      tests: STREAMS,
    },
    {
      attacks: "adapters: a message that was removed from the queue is said to be queued",
      file: "adapters/turn-taking.ts",
      find: "event.inputId === inputId) return removed;",
      replace: "event.inputId === inputId) return queued;",
      tests: STREAMS,
    },
    {
      attacks: "useChat: the values of a whole conversation count",
      file: "adapters/ai-sdk/chat-routes.ts",
      find: "    readOf: endOfChat,\n",
      replace: "",
      tests: STREAMS,
    },
    {
      attacks: "AG-UI: a thread is created for a message that can't be understood",
      file: "adapters/ag-ui/agui-routes.ts",
      find: "  const input = runInput(body);\n  await openThread(call, threadId);",
      replace: "  await openThread(call, threadId);\n  const input = runInput(body);",
      tests: STREAMS,
    },
    {
      attacks: "useChat: a caller approves without the role",
      file: "adapters/given-answers.ts",
      find: '  checkRole(call.who, "approve");\n',
      replace: "",
      tests: USE_CHAT,
    },
    {
      attacks: "useChat: answers are given before all of them are checked",
      file: "adapters/given-answers.ts",
      find: "checked.push(await check(one));",
      replace: "await (await check(one))().catch(unlessAnswered);",
      tests: USE_CHAT,
    },
    {
      attacks: "useChat: a caller rewinds without the role",
      file: "adapters/ai-sdk/chat-commands.ts",
      find: '  checkRole(who, "manage");\n',
      replace: "",
      tests: USE_CHAT,
    },
    {
      attacks: "useChat: the stream after an answer begins at the beginning of the turn again",
      file: "adapters/ai-sdk/chat-turn.ts",
      find: 'const isShown = !("v" in event) || event.seq > after;',
      replace: "const isShown = true;",
      tests: USE_CHAT,
    },
    {
      attacks: "useChat: a turn that ends with its calls is posted again and again",
      file: "adapters/ai-sdk/chunk-fold.ts",
      find: '...(hasCalls ? [{ type: "start-step" } as const, { type: "finish-step" } as const] : []),',
      replace: "",
      tests: CHUNKS,
    },
    {
      attacks: "useChat: version 6 gets a chunk that it does not know",
      file: "adapters/ai-sdk/message-chunks.ts",
      find: "if (state.version === 7 && state.isStepOpen) {",
      replace: "if (state.isStepOpen) {",
      tests: STREAMS,
    },
    {
      attacks: "adapters: a response goes on while the turn waits for a person",
      file: "adapters/turn-phase.ts",
      find: 'return phases.includes("asks") || subagents.includes("waiting");',
      replace: 'return phases.includes("asks");',
      tests: USE_CHAT,
    },
    {
      attacks: "adapters: a response ends although a call still runs",
      file: "adapters/turn-phase.ts",
      find: 'if (isDeclined || phases.length === 0 || phases.includes("open")) return false;',
      replace: "if (isDeclined || phases.length === 0) return false;",
      tests: [test("turn-phase")],
    },
    {
      attacks: "AG-UI: a run ends while a step is open",
      file: "adapters/ag-ui/run-fold.ts",
      find: "    ...stepEnd(state),\n",
      replace: "",
      tests: AG_UI,
    },
    {
      attacks: "AG-UI: an answer that was dropped stays",
      file: "adapters/ag-ui/run-messages.ts",
      find: '[...streamEnds(state), { type: "MESSAGES_SNAPSHOT", messages: state.messages }],',
      replace: "[...streamEnds(state)],",
      tests: AG_UI,
    },
  ]),
  ...inPackage("packages/core", [
    {
      attacks: "adapters: blocks stand in another order than their texts streamed",
      file: "model/answer-builder.ts",
      find: "if (block.at < this.#lastTextAt) {",
      replace: "if (this.#lastTextAt < 0) {",
      tests: BLOCKS,
    },
  ]),
  ...inPackage("apps/cli", [
    {
      attacks: "ACP: the text after a block without text is shown twice",
      file: "acp/acp-fold.ts",
      find: '      if (part.text === "") continue;\n',
      replace: "",
      tests: BLOCKS,
    },
    {
      attacks: "ACP: a permission that was answered elsewhere is not withdrawn",
      file: "acp/acp-questions.ts",
      find: "    for (const [id, asked] of this.#asked) if (!waiting.has(id)) this.#withdraw(id, asked);\n",
      replace: "",
      tests: ACP,
    },
    {
      attacks: "ACP: what waits is not asked again after load",
      file: "acp/acp-session.ts",
      find: "    await this.#ask();\n    for await",
      replace: "    for await",
      tests: ACP,
    },
  ]),
];
