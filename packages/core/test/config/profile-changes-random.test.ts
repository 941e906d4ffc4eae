import assert from "node:assert/strict";
import { test } from "node:test";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import * as fc from "fast-check";
import { Agent, Harness, memoryStore, type HarnessEvent, type Profile } from "@cinch/core";
import { MemoryData } from "@cinch/core/store";
import { say, script, scriptedBy } from "@cinch/testkit";
import { harness, noting } from "../support.ts";
import { headOf, notesOf, reasonsOf, Registered, summarising, toolsOf, tuned } from "./changing-profiles.ts";

type Operation =
  | { kind: "register"; key: string; part: keyof Profile; value: number }
  | { kind: "unregister"; at: number }
  | { kind: "say" | "compact" | "restart" | "switch" };

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("register" as const),
      key: fc.constantFrom("tuned", "tuned:one"),
      part: fc.constantFrom("baseSystemPrompt", "systemPromptSuffix", "toolDescriptionOverrides", "excludedTools"),
      value: fc.nat(2),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("unregister" as const), at: fc.nat(4) }) },
  { weight: 4, arbitrary: fc.constant({ kind: "say" as const }) },
  ...(["compact", "restart", "switch"] as const).map((kind) => ({ weight: 1, arbitrary: fc.constant({ kind }) })),
);

const PARTS: Partial<Record<keyof Profile, (value: number) => Profile>> = {
  baseSystemPrompt: (value) => ({ baseSystemPrompt: `Base ${value}.` }),
  systemPromptSuffix: (value) => ({ systemPromptSuffix: `Suffix ${value}.` }),
  toolDescriptionOverrides: (value) => ({ toolDescriptionOverrides: { note: `Note ${value}.` } }),
  excludedTools: (value) => ({ excludedTools: [["note"], ["write_todos"], ["ask_user"]][value]! }),
};

/** What a model with the current profiles would be given in a new thread. */
async function fresh(modelId: string): Promise<LanguageModelV4CallOptions> {
  const model = tuned(script(say("Hi.")), modelId);
  await using h = await harness({ model, tools: { note: noting().note } });
  await h.sendMessage({ content: "a" });
  return model.requests[0]!;
}

const partsOf = (text: string): string[] => text.match(/(?:Base|Suffix|Note) \d\./g) ?? [];

/** What a prompt says is in force: its head, as the newest note about the profile changes it. */
function inForce(request: LanguageModelV4CallOptions): string[] {
  const body = JSON.stringify(request.prompt.slice(1));
  const notes = body.split(/(?=Changed since this|Again as when this|Your instructions have the profile)/).slice(1);
  const note = notes.at(-1) ?? "";
  const quoted = /No longer in force, [^:]*:\\n\\n[^\\]*/g;
  const gone = partsOf((note.match(quoted) ?? []).join());
  const isDescribed = note.includes("described anew");
  const kept = partsOf(headOf(request)).filter(
    (part) => !gone.includes(part) && !(isDescribed && part.startsWith("Note")),
  );
  return [...kept, ...partsOf(note.replaceAll(quoted, ""))];
}

test("whatever changes: the head keeps its bytes until there is a reason, and the prompt has what is in force", async () => {
  const REASON = /^first use$|^the profile of model "\w+" changed$|^model changed from/;
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 4, maxLength: 14 }), async (operations) => {
      using profiles = new Registered();
      const off: (() => void)[] = [];
      const data = new MemoryData();
      const requests: { modelId: string; request: LanguageModelV4CallOptions }[] = [];
      const models = new Map(
        ["one", "two"].map((id) => {
          const model = scriptedBy((request) => {
            requests.push({ modelId: id, request });
            return say("Yes.");
          });
          return [id, tuned(model, id)];
        }),
      );
      const agent = new Agent({ name: "tester", model: "one", instructions: "Test.", tools: { note: noting().note } });
      const open = async () => {
        const opened = new Harness({
          id: "t",
          agent,
          resolveModel: (id) => models.get(id)!,
          memory: summarising,
          storage: memoryStore(data),
        });
        await opened.selectOrCreateThread();
        return opened;
      };
      let h = await open();
      let [seen, modelId, last]: [HarnessEvent[], string, string] = [[], "one", ""];
      let compacted = false;
      h.subscribe((event) => seen.push(event));
      try {
        for (const one of [{ kind: "say" } as const, ...operations, { kind: "say" } as const])
          switch (one.kind) {
            case "register":
              off.push(profiles.add(PARTS[one.part]!(one.value), one.key));
              break;
            case "unregister":
              off[one.at % Math.max(1, off.length)]?.();
              break;
            case "compact":
              compacted = (await h.compact()).range !== null || compacted;
              break;
            case "switch":
              modelId = modelId === "one" ? "two" : "one";
              await h.switchModel({ modelId });
              break;
            case "restart":
              await h.close();
              h = await open();
              h.subscribe((event) => seen.push(event));
              break;
            case "say": {
              seen = [];
              await h.sendMessage({ content: "Well?" });
              const { request, modelId: asked } = requests.at(-1)!;
              const reasons = reasonsOf(seen);
              assert.equal(asked, modelId);
              assert.ok(notesOf(seen).length <= 1);
              if (headOf(request) !== last) assert.match(reasons.join(), REASON);
              if (reasons[0]?.startsWith("the profile")) assert.ok(compacted);
              if (reasons.length > 0) assert.equal(headOf(request), headOf(await fresh(modelId)));
              last = headOf(request);
              compacted = false;
              const expected = await fresh(modelId);
              // The description of a tool that can't be called, or is not listed yet, tells nothing.
              const hasNote = toolsOf(request).includes("note") && toolsOf(expected).includes("note");
              const telling = (parts: string[]) => new Set(parts.filter((part) => hasNote || !part.startsWith("Note")));
              assert.deepEqual(telling(inForce(request)), telling(inForce(expected)));
            }
          }
      } finally {
        await h.close();
      }
    }),
    { numRuns: 60 },
  );
});
