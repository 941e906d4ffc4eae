import type { ActiveSubagent } from "@cinch/core";
import type { VNode } from "preact";
import { useField, usePage } from "../page-context.ts";
import { duration, shortNumber } from "../ui/format.ts";

/** The subagents of the tree, each below the one that started it. */
export function SubagentsPanel(): VNode | null {
  const all = Object.values(useField("activeSubagents"));
  const { open, addressOf } = usePage();
  if (all.length === 0) return null;
  return (
    <section class="panel">
      <h2>Subagents</h2>
      <ul class="subagents">
        {all
          .toSorted((a, b) => a.path.join("/").localeCompare(b.path.join("/")) || a.startedAt - b.startedAt)
          .map((one) => (
            <li key={one.threadId} class={`depth-${Math.min(5, one.path.length)}`}>
              <a
                href={addressOf(one.threadId)}
                onClick={(event) => {
                  event.preventDefault();
                  open(one.threadId);
                }}
              >
                <strong>{one.agentName}</strong> <span dir="auto">{one.task}</span>
              </a>
              <small>
                {doing(one)} · {shortNumber(one.usage.inputTokens + one.usage.outputTokens)} tok
                {one.durationMs !== null && ` · ${duration(one.durationMs)}`}
              </small>
            </li>
          ))}
      </ul>
    </section>
  );
}

function doing({ endedAt, status, toolCalls, pendingApprovals, pendingSuspensions }: ActiveSubagent): string {
  if (endedAt !== null) return status;
  if (Object.keys(pendingApprovals).length + Object.keys(pendingSuspensions).length > 0) return "waits for you";
  const running = toolCalls.findLast(({ isError }) => isError === null);
  return running ? `runs ${running.toolName}` : "works";
}
