import { textOf, type HarnessMessage, type Json, type Part, type ToolCallPart } from "@cinch/core";
import { argumentLines } from "../argument-lines.ts";
import type { ThreadExport } from "./thread-export.ts";

/** What one side said, or how a turn ended. The strings are foreign: each format escapes them. */
export interface ExportSection {
  who: "You" | "cinch" | "end";
  at: number | null;
  blocks: readonly ExportBlock[];
}

export type ExportBlock =
  | { kind: "text"; text: string }
  | { kind: "reasoning"; text: string }
  | ExportedFile
  | ExportedCall;

export interface ExportedFile {
  kind: "file";
  name: string;
  blob: string | null;
}

export interface ExportedCall {
  kind: "call";
  name: string;
  /** All arguments: see `argumentLines`. */
  input: string;
  /** A unified diff, instead of the result. */
  diff: string | null;
  /** `null`: the call has not ended. */
  output: string | null;
  status: "ok" | "failed" | "unknown" | "open";
  durationMs: number;
}

/** The thread in the order of the journal, without the notes of the harness for the model. */
export function sectionsOf({ messages, ends }: Pick<ThreadExport, "messages" | "ends">): ExportSection[] {
  const said = messages.filter(isSaid).map((message) => ({ seq: message.seq, section: sectionOf(message) }));
  const ended = ends.map(({ seq, reason, message }) => ({
    seq,
    section: {
      who: "end" as const,
      at: null,
      blocks: [{ kind: "text" as const, text: `The turn ended: ${reason}${message === null ? "" : `: ${message}`}` }],
    },
  }));
  const sections = [...said, ...ended].toSorted((one, other) => one.seq - other.seq).map(({ section }) => section);
  return merged(sections.filter(({ blocks }) => blocks.length > 0));
}

/** The answers of one turn are one section. */
function merged(sections: readonly ExportSection[]): ExportSection[] {
  const result: ExportSection[] = [];
  for (const section of sections) {
    const last = result.at(-1);
    if (section.who !== "cinch" || last?.who !== "cinch") result.push(section);
    else result[result.length - 1] = { ...last, blocks: [...last.blocks, ...section.blocks] };
  }
  return result;
}

/** Not a note of the harness. */
export const isSaid = ({ role }: HarnessMessage): boolean => role !== "note";

function sectionOf(message: HarnessMessage): ExportSection {
  const { role, at, content, interrupted } = message;
  const blocks = content.flatMap((part) => blockOf(part, message.outcomes));
  const broken: ExportBlock[] = interrupted ? [{ kind: "text", text: "(The answer broke off here.)" }] : [];
  return { who: role === "user" ? "You" : "cinch", at, blocks: [...blocks, ...broken] };
}

function blockOf(part: Part, outcomes: HarnessMessage["outcomes"]): ExportBlock[] {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text.trim() === "" ? [] : [{ kind: part.type, text: part.text }];
    case "file":
      return [{ kind: "file", name: part.filename ?? part.url ?? part.mediaType, blob: part.blob ?? null }];
    case "tool-call":
      return [callOf(part, outcomes[part.toolCallId])];
    case "tool-result":
      return [{ kind: "text", text: `${part.toolName}: ${JSON.stringify(part.result)}` }];
    default:
      return [];
  }
}

function callOf(
  { toolName: name, input }: ToolCallPart,
  outcome: HarnessMessage["outcomes"][string] | undefined,
): ExportedCall {
  const called = { kind: "call" as const, name, input: argumentLines(outcome?.args ?? input).join("\n") };
  if (!outcome) return { ...called, diff: null, output: null, status: "open", durationMs: 0 };
  const { result, isError, unknown, durationMs } = outcome;
  const diff = diffIn(result.details);
  const failed = isError ? "failed" : "ok";
  return { ...called, diff, output: textOf(result.content), status: unknown ? "unknown" : failed, durationMs };
}

function diffIn(details: Json | undefined): string | null {
  if (typeof details !== "object" || details === null || Array.isArray(details)) return null;
  const { diff } = details;
  return typeof diff === "string" && diff !== "" ? diff : null;
}
