/** A user's program. It is compiled against the published types, with every compiler option that a user may have. */
import {
  Agent,
  defineTool,
  Harness,
  isSuspendedBy,
  memoryStore,
  type AskUserPayload,
  type HarnessEvent,
  type Json,
  type Rule,
  type Session,
  type Store,
  type SubmitPlanPayload,
  type ToolContext,
  type ToolSet,
} from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { call, say, script, storeConformance } from "@cinch/testkit";
import { createWorkspace, localWorkspace, memoryBackend } from "@cinch/workspace";
import * as z from "zod";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const isTrue = <T extends true>(value?: T): T | undefined => value;

// The state of a thread has the type of the stateSchema.
const stateSchema = z.object({ project: z.string(), budget: z.number().default(10) });
type ProjectState = z.infer<typeof stateSchema>;
const agent = new Agent({ name: "a", model: script(call("count"), say("done")), instructions: async () => "Count." });
const harness = new Harness({ id: "types", agent, stateSchema, initialState: { project: "none" } });
isTrue<Same<ReturnType<typeof harness.getState>, ProjectState & { yolo: boolean }>>();
export const project: string = harness.getState().project;
export const budget: number = harness.getState().budget;
export const changed = (): Promise<void> => harness.setState({ project: "bridge", yolo: true });
// @ts-expect-error a budget is a number
export const wrongType = () => harness.setState({ budget: "much" });
// @ts-expect-error no such key
export const wrongKey = () => harness.setState({ proyect: "x" });
// @ts-expect-error a project is a text
export const wrongStart = () => new Harness({ id: "x", agent, stateSchema, initialState: { project: 5 } });
export const session = async (): Promise<string> => (await harness.createSession()).getState().project;

// A harness with a schema is a Harness, and its session is a Session.
export const any: Harness = harness;
export const anySession = async (): Promise<Session> => harness.createSession();

// Without a schema, the state is a record of JSON values.
const plain = new Harness({ id: "plain", agent, initialState: { count: 1 } });
export const counted: Json | undefined = plain.getState()["count"];
export const more = (): Promise<void> => plain.setState({ anything: [1, "x"] });

// The tool receives data with the type of its resume schema.
const Seat = z.object({ row: z.number(), letter: z.enum(["A", "B"]) });
export const reserve = defineTool({
  description: "Reserves a seat",
  input: z.object({ train: z.string() }),
  resume: Seat,
  execute({ train }, { suspend, resumed, state, setState }) {
    isTrue<Same<typeof train, string>>();
    if (!resumed) return suspend({ train });
    isTrue<Same<typeof resumed.data, z.infer<typeof Seat>>>();
    isTrue<Same<typeof resumed.payload, Json>>();
    setState({ reserved: (state["reserved"] as number) + 1 });
    // @ts-expect-error there is no column
    return `${resumed.data.row}${resumed.data.letter}${resumed.data.column}`;
  },
});
export const untyped = defineTool({
  description: "Asks for anything",
  input: { type: "object" },
  execute(input, { resumed }) {
    isTrue<Same<typeof input, unknown>>();
    const data: Json = resumed?.data ?? null;
    return { content: "done", details: data, isError: false };
  },
});
// A tool for one type of state declares it with its context.
export const count = defineTool({
  description: "Counts",
  input: z.object({ by: z.number() }),
  execute({ by }, { state, setState }: ToolContext<ProjectState>) {
    isTrue<Same<typeof by, number>>();
    setState({ budget: state.budget - by });
    return state.project;
  },
});
// @ts-expect-error the schema is for objects with a
export const wrongTool = defineTool({ description: "x", input: z.object({ a: z.string() }), execute: ({ b }) => b });
export const tools: ToolSet = { reserve, untyped, count };

// isSuspendedBy narrows the payload.
export function draw(event: HarnessEvent): string {
  if (event.type !== "tool_suspended") return event.type;
  isTrue<Same<typeof event.suspendPayload, Json>>();
  if (isSuspendedBy(event, "ask_user")) {
    const asked: AskUserPayload = event.suspendPayload;
    const labels: string[] = event.suspendPayload.options?.map(({ label }) => label) ?? [];
    return `${event.suspendPayload.question} ${labels.join()} ${asked.multiple}`;
  }
  if (isSuspendedBy(event, "submit_plan")) {
    const plan: SubmitPlanPayload = event.suspendPayload;
    return `${plan.title ?? ""} ${event.suspendPayload.plan}`;
  }
  // The payload of any other tool is JSON.
  return event.toolName === "reserve" ? JSON.stringify(event.suspendPayload) : event.toolName;
}
for (const pending of Object.values(harness.getDisplayState().pendingSuspensions))
  if (isSuspendedBy(pending, "ask_user")) draw({ question: pending.suspendPayload.question } as never);

// The other packages.
export const stores: Store[] = [memoryStore(), sqliteStore({ path: ":memory:", busyMs: 5 })];
export const workspaces = [localWorkspace({ root: "." }), createWorkspace({ backend: memoryBackend() })];
export const rules: Rule[] = [{ toolName: "reserve", policy: "allow" }];
export const conformance: typeof storeConformance = storeConformance;
