import type { ContextExplanation } from "@cinch/core";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useCommand, useMay, useSeat } from "../page-context.ts";
import { shortNumber } from "../ui/format.ts";

const NAMES: Record<keyof ContextExplanation["parts"], string> = {
  instructions: "Instructions",
  tools: "Tools",
  skills: "Skills",
  memory: "Memory",
  observations: "Observations",
  messages: "Messages",
  toolResults: "Results of tools",
};

/** Where the tokens of the next prompt go. */
export function ContextPanel(): VNode {
  const seat = useSeat();
  const run = useCommand();
  const mayManage = useMay("manage");
  const [explained, setExplained] = useState<ContextExplanation | null>(null);
  const load = () => run(async () => setExplained(await seat.explainContext()));
  return (
    <section class="panel">
      <h2>Context</h2>
      {explained ? (
        <>
          <meter min={0} max={explained.window} value={explained.total} aria-label="Share of the model's window" />
          <p>
            {shortNumber(explained.total)} of {shortNumber(explained.window)} tokens
          </p>
          <dl>
            {Object.entries(explained.parts).map(([part, tokens]) => (
              <>
                <dt>{NAMES[part as keyof typeof NAMES]}</dt>
                <dd>{shortNumber(tokens)}</dd>
              </>
            ))}
          </dl>
          {explained.leftOut.length > 0 && (
            <p>{explained.leftOut.length} ranges are left out; the journal keeps them.</p>
          )}
          <button type="button" onClick={load}>
            Refresh
          </button>{" "}
          {mayManage && (
            <button type="button" onClick={() => run(async () => (await seat.compact(), load()))}>
              Compact now
            </button>
          )}
        </>
      ) : (
        <button type="button" onClick={load}>
          Explain
        </button>
      )}
    </section>
  );
}
