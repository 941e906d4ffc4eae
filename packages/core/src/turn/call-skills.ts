import * as z from "zod/mini";
import { checked } from "../config/check.ts";
import { CinchError } from "../errors.ts";
import { AllowedTool } from "../events/context-events.ts";
import type { NewEvent } from "../events/event-map.ts";
import { tokensOfText } from "../folds/tokens.ts";
import { hashOf } from "../ports/hash.ts";
import type { Blob } from "../ports/store.ts";
import type { SkillToLoad } from "../tools/tool.ts";

const Skill = z.lazy(() =>
  z.strictObject({
    name: z.string().check(z.minLength(1), z.maxLength(200)),
    path: z.string().check(z.maxLength(4_096)),
    instructions: z.string(),
    allowedTools: z.optional(z.array(AllowedTool)),
  }),
);

/** The skills that one call loads. They are recorded in the append that ends the call. */
export class CallSkills {
  readonly #loaded: SkillToLoad[] = [];
  #isSettled = false;
  #settled: { event: NewEvent<"skill_loaded">; blob: Blob }[] = [];

  /** Throws `INVALID_INPUT`. */
  load(skill: SkillToLoad): void {
    if (this.#isSettled)
      throw new CinchError("INVALID_INPUT", "loadSkill was called after its tool call had ended. Await it in execute.");
    this.#loaded.push(checked(Skill, skill, "INVALID_INPUT", "This skill can't be loaded"));
  }

  async settle(): Promise<void> {
    this.#isSettled = true;
    this.#settled = await Promise.all(this.#loaded.map(recorded));
  }

  events(turnId: string): NewEvent[] {
    return this.#settled.map(({ event }) => ({ ...event, turnId }));
  }

  get blobs(): Blob[] {
    return this.#settled.map(({ blob }) => blob);
  }
}

async function recorded({ name, path, instructions, allowedTools }: SkillToLoad) {
  const text = instructions.toWellFormed();
  const bytes = new TextEncoder().encode(text);
  const hash = await hashOf(bytes);
  const allowed = allowedTools ? { allowed: [...allowedTools] } : {};
  const event = { type: "skill_loaded" as const, name, path, blob: hash, tokens: tokensOfText(text), ...allowed };
  return { event, blob: { hash, bytes } };
}
