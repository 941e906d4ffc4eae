import assert from "node:assert/strict";
import {
  Agent,
  Harness,
  memoryStore,
  type DurableEvent,
  type HarnessConfig,
  type HarnessEvent,
  type PendingApproval,
  type Policy,
  type Rule,
} from "@cinch/core";
import { call, say, scriptedBy } from "@cinch/testkit";
import { fileTools } from "../../src/tools/index.ts";
import { pathRules as compiled, type Backend } from "@cinch/workspace";
import { fileRules, type FileRules } from "../../src/path-rules/file-rules.ts";
import { MapBackend } from "./map-backend.ts";

export type Args = Record<string, unknown>;
export interface Outcome {
  text: string;
  isError: boolean;
  content: unknown;
  details: unknown;
}

export interface FileDeskOptions extends Partial<HarnessConfig> {
  files?: Record<string, string | Uint8Array>;
  backend?: MapBackend;
  /** Wraps the backend. */
  around?: (backend: MapBackend) => Backend;
  rules?: FileRules;
}

/** For tests that are about something else. */
export const edits: Rule[] = [{ category: "edit", policy: "allow" }];

export function pathRules(...rules: ["read" | "write", pattern: string, Policy][]): FileRules {
  return fileRules(
    compiled(rules.map(([operation, path, mode]) => ({ operations: [operation], paths: [path], mode }))),
  );
}

/** A real harness whose model makes the calls of the test. Each `calls` is a turn with one step. */
export class FileDesk {
  readonly backend: MapBackend;
  readonly harness: Harness;
  readonly events: HarnessEvent[] = [];
  #next: [string, Args?, string?][] = [];

  constructor({
    files = {},
    backend = new MapBackend(files),
    around,
    rules = pathRules(),
    ...config
  }: FileDeskOptions) {
    this.backend = backend;
    const tools = fileTools({ backend: around?.(backend) ?? backend, rules });
    const status = { protection: "none", description: "none" };
    const workspace = { tools, open: () => Promise.resolve(status), close: () => Promise.resolve() };
    const model = scriptedBy(({ prompt }) => (prompt.at(-1)?.role === "tool" ? say("done") : call(...this.#next)));
    const agent = new Agent({ name: "tester", model, instructions: "Test." });
    const storage = memoryStore();
    this.harness = new Harness({ id: "test", agent, storage, permissions: edits, workspace, ...config });
  }

  async open(): Promise<this> {
    await this.harness.init();
    this.harness.subscribe((event) => this.events.push(event));
    return this;
  }

  /** Begins a turn that makes these calls, all at once. */
  send(...calls: [string, Args?, string?][]): ReturnType<Harness["sendMessage"]> {
    this.#next = calls;
    return this.harness.sendMessage({ content: "go" });
  }

  async calls(...calls: [string, Args?, string?][]): Promise<Outcome[]> {
    const from = this.events.length;
    await this.send(...calls);
    const ends = this.events.slice(from).filter((event) => event.type === "tool_end");
    const order = this.events.slice(from).flatMap((event) => {
      if (event.type !== "message_end" || event.message.role !== "assistant") return [];
      return event.message.content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
    });
    return ends
      .toSorted((a, b) => order.indexOf(a.toolCallId) - order.indexOf(b.toolCallId))
      .map(({ result, isError }) => outcomeOf(result, isError));
  }

  /** The result of the call. Fails if it is an error. */
  async ok(name: string, args: Args = {}): Promise<string> {
    const [outcome] = await this.calls([name, args]);
    assert.equal(outcome?.isError, false, outcome?.text);
    return outcome!.text;
  }

  /** The error of the call. Fails if there is none. */
  async fails(name: string, args: Args = {}): Promise<string> {
    const [outcome] = await this.calls([name, args]);
    assert.equal(outcome?.isError, true, outcome?.text);
    return outcome!.text;
  }

  get changes(): DurableEvent<"file_changed">[] {
    return this.events.filter((event) => event.type === "file_changed");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.harness.close();
  }
}

function outcomeOf({ content, details }: { content: unknown; details?: unknown }, isError: boolean): Outcome {
  const text =
    typeof content === "string"
      ? content
      : (content as { type: string; text?: string }[]).map((part) => part.text ?? part.type).join("\n");
  return { text, isError, content, details };
}

/** Settles with the call that waits for an approval. */
export async function pending(d: FileDesk): Promise<PendingApproval> {
  for (;;) {
    const { pendingApproval } = d.harness.getDisplayState();
    if (pendingApproval) return pendingApproval;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

export const fileDesk = (options: FileDeskOptions = {}): Promise<FileDesk> => new FileDesk(options).open();

/** The text of a `read_file` result without header, line numbers and remarks, as a model would copy it. */
export const copied = (shown: string): string =>
  shown
    .split("\n")
    .flatMap((line) => /^ *\d+\t([^]*)$/.exec(line)?.[1] ?? [])
    .join("\n");
