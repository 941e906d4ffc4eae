import { appendFileSync } from "node:fs";
import { defineTool, type Tool } from "@cinch/core";

export interface LedgerLine {
  at: number;
  pid: number;
  what: "begin" | "end" | "fail";
  tool: string;
  /** The same for every run of one call. */
  key: string;
  args: unknown;
}

/**
 * The same tools, which also append a line to a file when they begin and end. The file is independent of the journal, so it proves what
 * really ran. Each line is written synchronously, so it survives a crash in the next instruction.
 */
export function withLedger(tools: Readonly<Record<string, Tool>>, path: string): Record<string, Tool> {
  const recorded = Object.entries(tools).map(([tool, known]) => {
    const execute: Tool["execute"] = async (args, context) => {
      const record = (what: LedgerLine["what"]) => {
        const line: LedgerLine = { at: Date.now(), pid: process.pid, what, tool, key: context.key, args };
        appendFileSync(path, `${JSON.stringify(line)}\n`);
      };
      record("begin");
      try {
        const result = await known.execute(args, context);
        record("end");
        return result;
      } catch (error) {
        record("fail");
        throw error;
      }
    };
    return [tool, defineTool({ ...known, input: known.input as Record<string, unknown>, execute })] as const;
  });
  return Object.fromEntries(recorded);
}
