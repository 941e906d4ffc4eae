import { join } from "node:path";
import type { ToolCall, ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { textOf, type Json, type ToolResult } from "@cinch/core";
import { firstLine, jsonFields, mainArgument } from "../views/call-argument.ts";

const KINDS: Readonly<Record<string, ToolKind>> = {
  read_file: "read",
  ls: "read",
  glob: "search",
  grep: "search",
  edit_file: "edit",
  write_file: "edit",
  delete: "delete",
  execute: "execute",
  write_todos: "think",
  submit_plan: "switch_mode",
};

const TITLE_CHARS = 120;

/** A call as an editor shows it. `root`: the folder in which the paths of the workspace begin. */
export function shownCall(toolName: string, args: Json, root: string): Omit<ToolCall, "toolCallId"> {
  const argument = firstLine(mainArgument(toolName, args)).slice(0, TITLE_CHARS);
  const { file_path: file, path } = jsonFields(args);
  const at = typeof file === "string" ? file : path;
  const locations: ToolCallLocation[] = typeof at === "string" && at !== "" ? [{ path: join(root, at) }] : [];
  return {
    title: argument === "" ? toolName : `${toolName} ${argument}`,
    name: toolName,
    kind: Object.hasOwn(KINDS, toolName) ? KINDS[toolName]! : "other",
    locations,
    rawInput: args,
  };
}

/** The result of a call: the diff of a file that it changed, or its text. */
export function resultContent(result: ToolResult, args: Json, root: string): ToolCallContent[] {
  const diff = diffContent(result.details, args, root);
  return diff.length > 0 ? diff : textContent(textOf(result.content));
}

export const textContent = (text: string): ToolCallContent[] =>
  text === "" ? [] : [{ type: "content", content: { type: "text", text } }];

/** The protocol has the old and the new text: here, those of the changed lines and the lines around them. */
export function diffContent(details: Json | undefined, args: Json, root: string): ToolCallContent[] {
  const { diff } = jsonFields(details);
  const { file_path: path } = jsonFields(args);
  if (typeof diff !== "string" || typeof path !== "string") return [];
  return hunksOf(diff).map(({ oldText, newText }) => ({ type: "diff", path: join(root, path), oldText, newText }));
}

function hunksOf(diff: string): { oldText: string; newText: string }[] {
  const [, ...hunks] = diff.split(/^@@.*@@.*\n/m);
  return hunks.map((hunk) => {
    const lines = hunk.split("\n").filter((line) => /^[ +-]/.test(line));
    const side = (sign: string) =>
      lines
        .filter((line) => line[0] === " " || line[0] === sign)
        .map((line) => `${line.slice(1)}\n`)
        .join("");
    return { oldText: side("-"), newText: side("+") };
  });
}
