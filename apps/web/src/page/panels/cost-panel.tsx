import type { VNode } from "preact";
import { useField } from "../page-context.ts";
import { dollars, shortNumber } from "../ui/format.ts";

export function CostPanel(): VNode | null {
  const used = useField("tokenUsage");
  const cost = useField("cost");
  const input = used.inputTokens;
  if (input === 0) return null;
  return (
    <section class="panel">
      <h2>Usage</h2>
      <dl>
        <dt>Input</dt>
        <dd>{shortNumber(input)} tokens</dd>
        <dt>Output</dt>
        <dd>{shortNumber(used.outputTokens)} tokens</dd>
        <dt>From cache</dt>
        <dd>{Math.round((100 * used.cacheReadTokens) / input)} %</dd>
        <dt>Cost</dt>
        <dd>{cost === null ? "unknown" : dollars(cost)}</dd>
      </dl>
    </section>
  );
}
