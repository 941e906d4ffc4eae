/** What a new process finds after `crash`, and how the turn continues. */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";

export default async function recover({ mode, steps, folder, start }) {
  const file = join(folder, "ledger");
  const ledger = () => readFileSync(file, "utf8").trim().split("\n").map(Number);
  const executed = ledger().length;
  let askedAgain = 0;
  const host = await start({
    onTool: (n) => appendFileSync(file, `${n}\n`),
    beforeModel({ kind, done }) {
      if (kind === "STEPS" && done < executed) askedAgain++;
    },
  });
  const kept = host.kept ? await host.kept("s1") : undefined;
  await host.open("s1");
  const found = kept ?? (await host.messages("s1"));
  const how = await continueTurn(host, () => Math.max(...ledger()) === steps, steps);
  const all = ledger();
  const twice = all.length - new Set(all).size;
  const after = await host.messages("s1");
  return {
    mode,
    executed,
    userMessageKept: found.some(({ text }) => text?.startsWith("STEPS")),
    resultsKept: found.filter(({ toolResult }) => toolResult).length,
    how,
    executedTwice: twice,
    /** Repetitions that the model did not request. */
    executedTwiceByItself: Math.max(0, twice - askedAgain),
    unknownReported: after.filter(({ unknown }) => unknown).length,
    finished: Math.max(...all) === steps,
  };
}

/** Tries the product's own way first, then what a user would try. */
async function continueTurn(host, isDone, steps) {
  const tried = [];
  const ways = [
    ...(host.resume ? [[host.resumesByItself ? "by itself" : "native resume", () => host.resume("s1")]] : []),
    ["a new user message", () => host.sendMessage("s1", "CONTINUE")],
    ["the task sent again", () => host.sendMessage("s1", `STEPS ${steps}`)],
  ];
  for (const [name, attempt] of ways) {
    tried.push(name);
    await attempt().catch((error) => tried.push(`(${String(error).slice(0, 80)})`));
    if (isDone()) break;
  }
  return tried.join(", then ");
}
