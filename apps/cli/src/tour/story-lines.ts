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
        ...indented(textOf(event.result.content).replace(/<\/?task_result[^>]*>\n?/g, "")),
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
/** Which tests passed and failed, and how many. */
const TEST_SUMMARY = /^(?:[✔✖] |ℹ (?:pass|fail) )/;

function ended({ toolName, result, isError, durationMs }: Extract<HarnessEvent, { type: "tool_end" }>): string[] {
  if (SHOWN_OTHERWISE.has(toolName)) return [];
  const time = `${(durationMs / 1_000).toFixed(1)} s`;
  if (toolName !== "execute") return [`  ${isError ? "✗" : "✓"} ${toolName} ${time}`, ...diffOf(result.details)];
  const [exit = "", ...output] = indented(textOf(result.content));
  const summary = output.map((line) => line.trim()).filter((line) => TEST_SUMMARY.test(line));
  return [`  ${toolName} ${time}: ${exit.trim()}`, ...new Set(summary.map((line) => `      ${line}`))];
}

function diffOf(details: Json | undefined): string[] {
  const diff = fieldOf(details, "diff");
  return typeof diff === "string" ? indented(diff).filter((line) => /^ {6}[-+](?![-+]{2} )/.test(line)) : [];
}

function fieldOf(details: Json | undefined, name: string): Json | undefined {
  if (details === null || typeof details !== "object" || Array.isArray(details)) return undefined;
  return details[name];
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
