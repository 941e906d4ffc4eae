import type { HarnessMessage } from "@cinch/core";
import type { RemoteSession } from "@cinch/client";
import { contentText } from "./content-text.ts";

const PAGE = 200;

/** The whole conversation as Markdown. */
export async function exported(seat: RemoteSession): Promise<string> {
  const messages: HarnessMessage[] = [];
  for (let before: number | undefined; ; before = messages[0]!.seq) {
    const page = await seat.listMessages({ limit: PAGE, ...(before === undefined ? {} : { before }) });
    messages.unshift(...page);
    if (page.length < PAGE) break;
  }
  const { title } = seat.getDisplayState();
  return [`# ${title || "Untitled"}`, ...messages.flatMap(section)].join("\n\n").concat("\n");
}

function section({ role, by, content, outcomes }: HarnessMessage): string[] {
  if (role === "note") return [];
  const heading = role === "user" ? `## ${by ?? "User"}` : "## Agent";
  const calls = content.flatMap((part) => {
    if (part.type !== "tool-call") return [];
    const outcome = outcomes[part.toolCallId];
    const result = outcome ? contentText(outcome.result.content) : "(no result)";
    return [`**${part.toolName}** \`${JSON.stringify(part.input)}\``, fenced(result)];
  });
  return [heading, contentText(content), ...calls].filter((text) => text !== "");
}

/** A fence that the text itself does not have. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/markdown" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
