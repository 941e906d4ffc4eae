import type { FileDiff } from "@cinch/core";
import type { Line } from "../../terminal/line.ts";
import { diffCounts, diffHunks, diffLineList } from "../../text/diff.ts";
import { dim, revealedSpan, span } from "../../views/spans.ts";
import type { AppCommand } from "./command.ts";
import { present } from "./present.ts";

export const diffCommand: AppCommand = {
  name: "diff",
  description: "show what this thread changed in files",
  async run(_argument, context) {
    const diffs = await context.session.diff();
    if (diffs.length === 0) return context.say("This thread has changed no files.");
    const lines = diffs.flatMap((diff, index) => [...(index === 0 ? [] : [{ spans: [] }]), ...fileLines(diff)]);
    await present(context, { title: "Changes of this thread", lines });
  },
};

function fileLines({ path, status, diff, note }: FileDiff): Line[] {
  const hunks = diffHunks(diff);
  const { added, removed } = diffCounts(hunks);
  const counts = diff === "" ? "" : `  +${added} −${removed}`;
  const title: Line = {
    spans: [revealedSpan(path.replace(/^\//, ""), { bold: true }), span(`  ${status}${counts}`, dim)],
  };
  return [title, ...(note === undefined ? [] : [{ spans: [span(`  ${note}`, dim)] }]), ...diffLineList(hunks)];
}
