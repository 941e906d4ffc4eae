import type { ActiveSubagent } from "@cinch/core";
import type { VNode } from "preact";
import { useField, usePage } from "../page-context.ts";
import { duration, shortNumber } from "../ui/format.ts";

/** The subagents of the tree, each below the one that started it. */
export function SubagentsPanel(): VNode | null {
  const all = Object.values(useField("activeSubagents")).toSorted((a, b) => a.startedAt - b.startedAt);
  if (all.length === 0) return null;
  const children = Map.groupBy(all, ({ parentThreadId }) => parentThreadId);
  const threads = new Set(all.map(({ threadId }) => threadId));
  return (
    <section class="panel">
      <h2>
        Subagents <small>{all.length}</small>
      </h2>
      <Subagents all={all.filter(({ parentThreadId }) => !threads.has(parentThreadId))} below={children} />
    </section>
  );
}

interface Props {
  all: readonly ActiveSubagent[];
  /** By the thread that started them. */
  below: ReadonlyMap<string, readonly ActiveSubagent[]>;
}

const Subagents = ({ all, below }: Props): VNode => (
  <ul class="subagents">
    {all.map((one) => (
      <li key={one.threadId}>
        <Subagent one={one} />
        {below.has(one.threadId) && <Subagents all={below.get(one.threadId)!} below={below} />}
      </li>
    ))}
  </ul>
);

function Subagent({ one }: { one: ActiveSubagent }): VNode {
  const { open, addressOf } = usePage();
  const isAsking = Object.keys(one.pendingApprovals).length + Object.keys(one.pendingSuspensions).length > 0;
  return (
    <>
      <a
        href={addressOf(one.threadId)}
        onClick={(event) => {
          event.preventDefault();
          open(one.threadId);
        }}
      >
        <strong>{one.agentName}</strong> <span dir="auto">{one.task}</span>
      </a>
      <small class={isAsking ? "waits" : undefined}>
        {isAsking ? "waits for you" : doing(one)} · {shortNumber(one.usage.inputTokens + one.usage.outputTokens)} tok
        {one.durationMs !== null && ` · ${duration(one.durationMs)}`}
      </small>
    </>
  );
}

function doing({ endedAt, status, toolCalls }: ActiveSubagent): string {
  if (endedAt !== null) return status;
  const running = toolCalls.findLast(({ isError }) => isError === null);
  return running ? `runs ${running.toolName}` : "works";
}
