import { appendFileSync } from "node:fs";
import { defineTool, type Tool } from "@cinch/core";

/** One line of the ledger. */
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
 * The same tools, with a line in a file when one begins and when it ends. It stands beside the journal and knows nothing of it, so
 * it proves what really ran. Written at once: a process that dies in the next instruction has left its line.
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
