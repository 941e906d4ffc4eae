import { setTimeout as sleep } from "node:timers/promises";
import { defineTool } from "@cinch/core";
import * as z from "zod";

const MAX_SECONDS = 600;

export const wait = defineTool({
  description: "Waits for some seconds.",
  effect: "pure",
  input: z.object({ seconds: z.number().min(0).max(MAX_SECONDS) }),
  async execute({ seconds }, { signal, emit }) {
    for (let left = seconds; left > 0; left -= 1) {
      emit({ secondsLeft: left });
      await sleep(Math.min(1, left) * 1_000, undefined, { signal });
    }
    return `Waited ${seconds} s.`;
  },
});
