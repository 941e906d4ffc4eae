import { appendFileSync } from "node:fs";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, defineTool, Harness, type Effect, type Placement, type Store } from "@cinch/core";
import { graphilePlacement, postgresStore } from "@cinch/postgres";
import { restatePlacement } from "@cinch/restate";
import { sqliteStore } from "@cinch/sqlite";
import { call, say, scriptedBy } from "@cinch/testkit";
import * as z from "zod";
import type { MemberOptions } from "./member-options.ts";

/** One line of the file of effects. */
export interface EffectLine {
  tool: string;
  key: string;
  at: number;
  pid: number;
}

/** What the model does for each message: every effect, alone and beside others, and a call that needs an approval. */
const STEPS = [
  call("once", {}),
  call(["pure", {}], ["idempotent", {}], ["once", {}]),
  call("guarded", {}),
  say("That is done.", { delayMs: 20 }),
];

const model = scriptedBy(({ prompt }) => {
  const since = prompt.slice(prompt.findLastIndex(({ role }) => role === "user") + 1);
  return STEPS[since.filter(({ role }) => role === "assistant").length] ?? say("Nothing is left.");
});

function toolsOf(folder: string) {
  const tool = (name: string, effect: Effect, ms: number) =>
    defineTool({
      description: name,
      effect,
      input: z.object({}),
      ...(name === "guarded" && { category: "execute" as const }),
      async execute(_, { key }) {
        const line: EffectLine = { tool: name, key, at: Date.now(), pid: process.pid };
        appendFileSync(`${folder}/effects`, `${JSON.stringify(line)}\n`);
        await pause(ms);
        return `${name} is done`;
      },
    });
  return {
    pure: tool("pure", "pure", 100),
    idempotent: tool("idempotent", "idempotent", 200),
    once: tool("once", "once", 150),
    guarded: tool("guarded", "once", 50),
  };
}

export const storeOf = ({ store }: Pick<MemberOptions, "store">): Store =>
  "sqlite" in store ? sqliteStore({ path: store.sqlite }) : postgresStore(store.postgres);

const placementOf = ({ placement }: MemberOptions): Placement =>
  placement === "graphile" ? graphilePlacement() : restatePlacement(placement.restate);

export function memberHarness(options: MemberOptions): Harness {
  return new Harness({
    id: "team",
    storage: storeOf(options),
    agent: new Agent({ name: "member", model, tools: toolsOf(options.folder) }),
    permissions: [
      { category: "other", policy: "allow" },
      { toolName: "guarded", policy: "ask" },
    ],
    placement: placementOf(options),
    ...(options.role === "worker" && { worker: { maxThreads: 40, maxPerResource: 1_000 } }),
  });
}
