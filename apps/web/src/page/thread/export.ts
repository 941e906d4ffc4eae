import type { HarnessMessage } from "@cinch/core";
import type { RemoteSession } from "@cinch/client";
import { contentText } from "./content-text.ts";
import { isCut, placeKey, wholeCalls, type WholeCall } from "./whole-call.ts";

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
  const whole = await wholeOf(seat, messages);
  const sections = messages.flatMap((message) => section(message, whole));
  return [`# ${title || "Untitled"}`, ...sections].join("\n\n").concat("\n");
}

/** The calls of which the list of messages has only the beginning and the end. */
async function wholeOf(
  seat: RemoteSession,
  messages: readonly HarnessMessage[],
): Promise<ReadonlyMap<string, WholeCall>> {
  const cutIn = ({ content, outcomes, seq }: HarnessMessage) =>
    content.flatMap((part) => {
      const isOfCut = part.type === "tool-call" && (isCut(part) || isCut(outcomes[part.toolCallId]?.result));
      return isOfCut ? [{ seq, toolCallId: part.toolCallId }] : [];
    });
  return wholeCalls(seat, messages.flatMap(cutIn));
}

function section(
  { role, by, content, outcomes, seq }: HarnessMessage,
  whole: ReadonlyMap<string, WholeCall>,
): string[] {
  if (role === "note") return [];
  const heading = role === "user" ? `## ${by ?? "User"}` : "## Agent";
  const calls = content.flatMap((part) => {
    if (part.type !== "tool-call") return [];
    const outcome = outcomes[part.toolCallId];
    const { input = part.input, result = outcome?.result } =
      whole.get(placeKey({ seq, toolCallId: part.toolCallId })) ?? {};
    const args = outcome?.args ?? input;
    return [
      `**${part.toolName}**`,
      fenced(JSON.stringify(args)),
      fenced(result ? contentText(result.content) : "(no result)"),
    ];
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
