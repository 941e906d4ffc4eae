import { randomUUID } from "node:crypto";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, defineTool, Harness, type HarnessConfig } from "@cinch/core";
import { call, say, scriptedBy } from "@cinch/testkit";
import * as z from "zod";

export const STEPS = 8;
/** What the model answers to "Talk.". */
export const TALK = Array.from({ length: 250 }, (_, at) => `word${at} `).join("");

/** A call that a process has run. */
export interface Ran {
  by: string;
  key: string;
}

type Walker = Partial<HarnessConfig> & { by: string; ran(run: Ran): void };

/**
 * A worker or a front. A turn has eight steps, each with a call that must not run twice; "Talk." is answered slowly, "Ask." by a call that
 * needs an approval, and "Die." kills the driver.
 */
export function walkerHarness({ by, ran, ...config }: Walker): Harness {
  const tool = (description: string, ms: number) =>
    defineTool({
      description,
      effect: "once",
      category: "read",
      input: z.object({}),
      execute: async (_, { key }) => {
        ran({ by, key });
        await pause(ms);
        return "done";
      },
    });
  const tools = { step: tool("One step", 300), jump: tool("Needs an approval", 0) };
  return new Harness({
    id: "team",
    agent: new Agent({ name: "walker", model, tools }),
    permissions: [{ toolName: "jump", policy: "ask" }],
    ...config,
  });
}

const model = scriptedBy(({ prompt }) => {
  const asked = prompt.findLast(({ role }) => role === "user");
  const text = JSON.stringify(asked?.content);
  if (text.includes("Die.")) process.kill(process.pid, "SIGKILL");
  if (text.includes("Talk.")) return say(TALK, { size: 4, delayMs: 8 });
  const calls = prompt.filter(({ role }) => role === "tool").length;
  if (text.includes("Ask.") && calls === 0) return call("jump", {});
  return text.includes("Walk") && calls < STEPS ? call("step", {}, randomUUID()) : say("Done.");
});
