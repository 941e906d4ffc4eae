import type { Json } from "@cinch/core";
import { argumentLines } from "../argument-lines.ts";
import { reveal, short } from "../terminal/sanitise.ts";
import type { Waiting } from "./waiting.ts";

/** What waits, in full: a person must see all of what an answer allows. `answer` is the command that answers, up to the answer. */
export function waitingText(waiting: Waiting, answer: string): string {
  const asker = [...waiting.path.map((name) => short(name, 40)), short(waiting.toolName, 40)].join(" › ");
  const head = `${waiting.id}  ${asker} ${ASKS[waiting.kind]}${notListed(waiting)}:`;
  const body = bodyOf(waiting).flatMap((text) => text.split("\n"));
  return [
    head,
    ...body.map((line) => (line === "" ? "" : `    ${shownLine(line)}`)),
    `  ${howToAnswer(waiting, answer)}`,
  ].join("\n");
}

const ASKS = {
  approval: "asks whether it may run",
  question: "asks",
  plan: "asks whether this plan is right",
  data: "waits for an answer",
} as const;

const notListed = (waiting: Waiting): string =>
  waiting.kind === "approval" && waiting.skill !== null
    ? `, not listed by the skill "${short(waiting.skill, 40)}"`
    : "";

/** A tab is not a hidden character. */
const shownLine = (line: string): string => reveal(line.replaceAll("\t", "    "));

function bodyOf(waiting: Waiting): string[] {
  switch (waiting.kind) {
    case "approval":
      return [...argumentLines(waiting.args), ...diffIn(waiting.preview)];
    case "question":
      return [waiting.question, ...(waiting.options ?? []).map(optionLine)];
    case "plan":
      return [...(waiting.title === null ? [] : [waiting.title]), waiting.plan];
    case "data":
      return [JSON.stringify(waiting.payload)];
  }
}

function diffIn(preview: Json): string[] {
  const isObject = typeof preview === "object" && preview !== null && !Array.isArray(preview);
  const diff = isObject ? preview["diff"] : undefined;
  return typeof diff === "string" && diff !== "" ? ["", ...diff.trimEnd().split("\n")] : [];
}

const optionLine = ({ label, description }: { label: string; description?: string | undefined }): string =>
  `- ${label}${description === undefined ? "" : `: ${description}`}`;

function howToAnswer(waiting: Waiting, answer: string): string {
  const command = `answer: ${answer} ${waiting.id}`;
  switch (waiting.kind) {
    case "approval":
      return `${command} yes   (or no${alwaysOf(waiting)})`;
    case "plan":
      return `${command} yes   (or no, or what to change)`;
    case "question":
    case "data":
      return `${command} "…"`;
  }
}

function alwaysOf({ decisions, suggestion, toolName }: Extract<Waiting, { kind: "approval" }>): string {
  if (!decisions.includes("always_allow_tool")) return "";
  return `, or always: ${suggestion === null ? `every ${short(toolName, 40)}` : reveal(suggestion)}`;
}
