/** What the folds of the adapters add to a delta: the time of folding it, without the encoding that the raw feed has too. */
import { built } from "../lib/built.mjs";
import { median } from "../lib/numbers.mjs";

export default async function adapterFolds({ n, now }) {
  const folds = await foldsOf();
  const events = Array.from({ length: n }, (_, at) => ({
    type: "message_update",
    threadId: "thread",
    at,
    turnId: "turn",
    messageId: "message",
    role: "assistant",
    index: 0,
    part: "text",
    delta: "word ",
  }));
  const times = folds.map(() => []);
  for (let rep = 0; rep < 9; rep++)
    for (const [at, { begin, fold }] of folds.entries()) {
      const from = now();
      let state = begin();
      let parts = 0;
      for (const event of events) {
        const [next, added] = fold(state, event);
        state = next;
        parts += added.length;
      }
      times[at].push(((now() - from) * 1_000) / n);
      if (parts < n) throw new Error("a delta was lost");
    }
  const [aiSdkUs, agUiUs, acpUs] = times.map((each) => median(each));
  return { aiSdkUs, agUiUs, acpUs };
}

async function foldsOf() {
  const [chunks, chunkState, run, runState, acp] = await Promise.all([
    built("server", "adapters/ai-sdk/chunk-fold"),
    built("server", "adapters/ai-sdk/chunk-state"),
    built("server", "adapters/ag-ui/run-fold"),
    built("server", "adapters/ag-ui/run-state"),
    built("../apps/cli", "acp/acp-fold"),
  ]);
  const at = { threadId: "thread", turnId: "turn" };
  return [
    { begin: () => chunkState.newChunkState({ ...at, version: 7 }), fold: chunks.foldChunks },
    { begin: () => runState.newRunState({ ...at, runId: "run", messages: [] }), fold: run.foldRun },
    { begin: () => acp.newAcpState({ root: "/", window: 0 }), fold: acp.foldUpdates },
  ];
}
