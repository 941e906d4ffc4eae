import type { Memory } from "@cinch/core";
import { observationalMemory } from "@cinch/memory";
import type { Config } from "./config/config.ts";

/**
 * The memory of a project. It rests while a thread has the built-in model, which can't observe: it would replace messages by nonsense.
 */
export function projectMemory(config: Config["memory"]): Memory {
  const memory = observationalMemory(config);
  const atRest = { cut: null, observe: null, reflect: null };
  return { ...memory, plan: (view) => (view.modelId === "offline" ? atRest : memory.plan(view)) };
}
