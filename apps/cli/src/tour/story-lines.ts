import { isSuspendedBy, textOf, type HarnessEvent, type Json } from "@cinch/core";
import { plain, short } from "../terminal/sanitise.ts";

/** What the tour prints of an event. The text is plain. */
export function storyLines(event: HarnessEvent): string[] {
  switch (event.type) {
    case "message_end":
      return event.message.role === "assistant" ? said(textOf(event.message.content)) : [];
    case "tool_suspended":
      if (!isSuspendedBy(event, "submit_plan")) return [];
      return ["  ? The plan:", ...indented(event.suspendPayload.plan), "  → approved"];
    case "mode_changed":
      return [`  mode ${event.previousModeId} → ${event.modeId}`];
    case "tool_approval_required":
      return [`  ? ${event.toolName} asks: ${short(subjectOf(event.args))}`, "  → approved"];
    case "tool_end":
      return ended(event);
    case "task_updated":
      return event.tasks.map(({ content, status }) => `  ${SIGNS[status]} ${short(content)}`);
    case "subagent_start":
      return [`  subagent ${event.agentName}: ${short(event.task)}`];
    case "subagent_end":
      return [
        `  subagent ${event.agentName} ${event.isError ? "failed" : "reports"}:`,
        ...indented(textOf(event.result.content)),
      ];
    case "error":
      return [`  error: ${short(event.message, 300)}`];
    default:
      return [];
  }
}

const SIGNS = { pending: "☐", in_progress: "▸", completed: "☑" } as const;
/** Their own events say more. */
const SHOWN_OTHERWISE = new Set(["submit_plan", "write_todos", "task"]);
/** Enough for the summary of the tests. */
const OUTPUT_LINES = 12;

function ended({ toolName, result, isError, durationMs }: Extract<HarnessEvent, { type: "tool_end" }>): string[] {
  if (SHOWN_OTHERWISE.has(toolName)) return [];
  const head = `  ${isError ? "✗" : "✓"} ${toolName} ${(durationMs / 1_000).toFixed(1)} s`;
  if (toolName !== "execute") return [head, ...diffOf(result.details)];
  return [head, ...indented(textOf(result.content)).slice(-OUTPUT_LINES)];
}

function diffOf(details: Json | undefined): string[] {
  const diff = details !== null && typeof details === "object" && "diff" in details ? details["diff"] : undefined;
  return typeof diff === "string" ? indented(diff).filter((line) => /^ {6}[-+](?![-+]{2} )/.test(line)) : [];
}

const said = (text: string): string[] => (text.trim() === "" ? [] : [`\nCinch: ${plain(text).trim()}`]);

function subjectOf(args: Json): string {
  if (args === null || typeof args !== "object" || Array.isArray(args)) return JSON.stringify(args);
  const subject = args["command"] ?? args["file_path"];
  return typeof subject === "string" ? subject : JSON.stringify(args);
}

const indented = (text: string): string[] =>
  plain(text)
    .trimEnd()
    .split("\n")
    .map((line) => `      ${line}`);
