import assert from "node:assert/strict";
import { Agent, Harness, memoryStore, textOf, type HarnessConfig, type Session } from "@cinch/core";
import { call, say, scriptedBy } from "@cinch/testkit";
import type { FileWorkspace } from "@cinch/workspace";

export type Call = [name: string, args: Record<string, unknown>];

export interface Answer {
  text: string;
  isError: boolean;
  details: Record<string, unknown>;
}

/** A model that makes the calls in the last message, which is JSON, so that any process can continue its threads. */
export const obedient = scriptedBy(({ prompt }) => {
  const last = prompt.at(-1);
  if (last?.role !== "user") return say("done");
  const text = last.content.map((part) => (part.type === "text" ? part.text : "")).join("");
  return call(
    ...(JSON.parse(text) as Call[]).map(([name, args], at): [string, unknown, string] => [name, args, `c${at}`]),
  );
});

/** A real harness with a workspace, whose tools a test calls as a model would. No call asks. */
export class CommandDesk {
  readonly harness: Harness;
  readonly workspace: FileWorkspace;

  constructor(workspace: FileWorkspace, config: Partial<HarnessConfig> = {}) {
    this.workspace = workspace;
    const agent = new Agent({ name: "tester", model: obedient });
    const base = { id: "desk", agent, storage: memoryStore(), initialState: { yolo: true } };
    this.harness = new Harness({ ...base, workspace, ...config });
  }

  /** Several calls are made at once. */
  async calls(seat: Harness | Session, ...calls: Call[]): Promise<Answer[]> {
    const answers = new Map<string, Answer>();
    const off = seat.subscribe((event) => {
      if (event.type !== "tool_end") return;
      const { result, isError, toolCallId } = event;
      const details = (result.details ?? {}) as Record<string, unknown>;
      answers.set(toolCallId, { text: textOf(result.content), isError, details });
    });
    await seat.sendMessage({ content: JSON.stringify(calls) });
    off();
    return calls.map((_, at) => answers.get(`c${at}`)!);
  }

  async call(...[name, args]: Call): Promise<Answer> {
    return (await this.calls(this.harness, [name, args]))[0]!;
  }

  async ok(...one: Call): Promise<Answer> {
    const answer = await this.call(...one);
    assert.equal(answer.isError, false, answer.text);
    return answer;
  }

  async fails(...one: Call): Promise<string> {
    const answer = await this.call(...one);
    assert.equal(answer.isError, true, answer.text);
    return answer.text;
  }

  /** Starts a command in the background. Returns its id. */
  async start(command: string, more: Record<string, unknown> = {}): Promise<string> {
    const { details } = await this.ok("execute", { command, background: true, ...more });
    return String(details["id"]);
  }

  /** Polls until the output since the first poll contains this text. */
  async printed(id: string, wanted: string): Promise<string> {
    let all = "";
    while (!all.includes(wanted)) {
      const { text, details } = await this.ok("execute_output", { id, wait_ms: 10_000 });
      all += text;
      assert.ok(all.includes(wanted) || details["exit"] === null, `${id} is over, and did not say ${wanted}: ${all}`);
    }
    return all;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.harness.close();
  }
}

export async function commandDesk(workspace: FileWorkspace, config?: Partial<HarnessConfig>): Promise<CommandDesk> {
  const desk = new CommandDesk(workspace, config);
  await desk.harness.init();
  return desk;
}
