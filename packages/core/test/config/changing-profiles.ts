import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { registerProfile, textOf, type HarnessEvent, type Memory, type Profile } from "@cinch/core";
import type { ScriptedModel } from "@cinch/testkit";

export const tuned = (model: ScriptedModel, modelId = "m"): ScriptedModel =>
  Object.assign(model, { provider: "tuned.chat", modelId });

/** Profiles that are unregistered at the end of the test. */
export class Registered implements Disposable {
  readonly #all = new Set<() => void>();

  add(profile: Profile, key = "tuned"): () => void {
    const off = registerProfile(key, profile);
    this.#all.add(off);
    return off;
  }

  [Symbol.dispose](): void {
    for (const off of this.#all) off();
  }
}

export const systemOf = ({ prompt }: LanguageModelV4CallOptions): unknown =>
  prompt[0]?.role === "system" && prompt[0].content;
export const headOf = (request: LanguageModelV4CallOptions): string =>
  JSON.stringify([systemOf(request), request.tools]);
export const toolsOf = ({ tools = [] }: LanguageModelV4CallOptions): string[] => tools.map(({ name }) => name);
export const reasonsOf = (seen: readonly HarnessEvent[]): string[] =>
  seen.flatMap((event) => (event.type === "prompt_head" ? [event.reason] : []));

/** The notes about a profile, without their dates. */
export const notesOf = (seen: readonly HarnessEvent[]): string[] =>
  seen.flatMap((event) =>
    event.type === "message_end" && event.profile !== undefined
      ? [textOf(event.message.content).replace(/ \(\d{4}-\d\d-\d\d \d\d:\d\d UTC\)/, "")]
      : [],
  );

export const summarising: Memory = {
  plan: ({ isRequested, boundaries, fromSeq }) => {
    const range: [number, number] = [fromSeq, boundaries.at(-1)?.seq ?? 0];
    const cut = isRequested ? { kind: "summarise" as const, range, reason: "requested" as const } : null;
    return { cut, observe: null, reflect: null };
  },
  summarise: async () => "They talked.",
};
