import type { Json, PendingApproval } from "@cinch/core";
import { line, text, type Line } from "../terminal/line.ts";
import { diffHunks, diffLineList } from "../text/diff.ts";
import { gutterRows, inGutter, isLong } from "./gutter.ts";
import type { PanelContext } from "./panel.ts";

/** What `execute` runs. */
export interface CommandArgs {
  command: string;
  [option: string]: Json;
}

const isObject = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** `undefined` if the call runs no command. */
export const commandArgs = ({ category, args }: PendingApproval): CommandArgs | undefined =>
  category === "execute" && isObject(args) && typeof args["command"] === "string" ? (args as CommandArgs) : undefined;

export function approvalTitle(approval: PendingApproval): string {
  if (commandArgs(approval)) return "Run this command?";
  return wholeDiff(approval) === undefined ? "Allow this call?" : "Make this change?";
}

/**
 * Exactly and completely what will run, revealed: the command, or the diff, or the arguments. To be printed once, before the panel asks,
 * whenever `approvalIsLong`.
 */
export function approvalLines(approval: PendingApproval, { width }: { width: number }): Line[] {
  const command = commandArgs(approval);
  if (command) return commandLines(command, width);
  const { toolName, args } = approval;
  const diff = wholeDiff(approval);
  if (diff === undefined) return gutterRows(`${toolName} ${JSON.stringify(args, null, 2)}`, width);
  return [...gutterRows(`${toolName} ${targetOf(args)}`, width), ...diffRows(diff, width)];
}

/** The panel has no room for all of it: it is printed above. */
export const approvalIsLong = (approval: PendingApproval, room: Pick<PanelContext, "width" | "rows">): boolean =>
  isLong(approvalLines(approval, room), room);

function commandLines({ command, ...options }: CommandArgs, width: number): Line[] {
  const rows = gutterRows(command, width);
  if (Object.keys(options).length === 0) return rows;
  return [...rows, line("with", { dim: true }), ...gutterRows(JSON.stringify(options), width)];
}

const targetOf = (args: Json): string => {
  const path = isObject(args) ? (args["path"] ?? args["file_path"]) : undefined;
  return typeof path === "string" ? path : JSON.stringify(args);
};

/** The diff of the preview, unless it was truncated: what is approved must be seen whole. */
function wholeDiff({ preview }: PendingApproval): string | undefined {
  const diff = isObject(preview) ? preview["diff"] : undefined;
  return typeof diff === "string" && isWhole(diff) ? diff : undefined;
}

const HEADER = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

const NO_NEWLINE = "\\ No newline at end of file";

/** Each hunk has as many lines as its header says, and no line says that others are missing. */
function isWhole(unified: string): boolean {
  let [oldLeft, newLeft, hunks] = [0, 0, 0];
  for (const row of unified.replace(/\n$/, "").split("\n")) {
    const header = oldLeft + newLeft === 0 ? HEADER.exec(row) : null;
    if (header) {
      [oldLeft, newLeft] = [Number(header[1] ?? 1), Number(header[2] ?? 1)];
      hunks++;
      continue;
    }
    if (hunks === 0 || row === NO_NEWLINE) continue;
    if (!/^[-+ ]/.test(row)) return false;
    if (!row.startsWith("+")) oldLeft--;
    if (!row.startsWith("-")) newLeft--;
    if (oldLeft < 0 || newLeft < 0) return false;
  }
  return hunks > 0 && oldLeft + newLeft === 0;
}

function diffRows(diff: string, width: number): Line[] {
  const rows = diff.replace(/\n$/, "").split("\n");
  // Where all lines end so, it is no part of the change.
  const crlf = rows
    .filter((row) => /^[-+ ]/.test(row))
    .every((row) => row.endsWith("\r") || /^(---|\+\+\+) /.test(row));
  const shown = rows.map((row) => {
    const content = crlf ? row.replace(/\r$/, "") : row;
    return text(content.replaceAll("\t", "    "), { reveal: true });
  });
  return [...diffLineList(diffHunks(shown.join("\n")))].flatMap((row) => inGutter(row, width));
}
