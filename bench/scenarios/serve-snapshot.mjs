/** The snapshot of a long thread with long results, asked for from another process while the thread is open. */
import { prose } from "../lib/prose.mjs";
import { clients } from "../lib/serving/clients.mjs";
import { cpuMicros, served, textModel } from "../lib/serving/served.mjs";

const TIMES = 15;

export default async function serveSnapshot({ messages, resultBytes, folder }) {
  const host = await served({ folder, model: textModel(() => ["Hello"]) });
  const id = "long";
  await write(host.store, { id, messages, resultBytes });
  const asking = clients();
  const path = `/v1/threads/${id}`;
  const first = await asking.ask("gets", { port: host.port, path, times: 1 });
  const from = cpuMicros();
  const open = await asking.ask("gets", { port: host.port, path, times: TIMES });
  const cpuMs = (cpuMicros() - from) / 1_000 / TIMES;
  asking.close();
  await host.close();
  if (open.status !== 200) throw new Error(`the answer is ${open.status}`);
  return { kb: open.bytes / 1_000, firstByteMs: open.firstMs, allMs: open.allMs, cpuMs, openingMs: first.firstMs };
}

/** Turns of one step with one call, written directly to the store: real ones would take minutes. */
async function write(store, { id, messages, resultBytes }) {
  const created = eventOf("thread_created", { title: "Long", resourceId: "default" });
  let { seq, epoch } = await store.append(id, [created], { afterSeq: 0, take: 0 });
  // A turn is a message of the user, a call and an answer.
  for (let turn = 0; turn < messages / 3; turn += 20) {
    const batch = Array.from({ length: 20 }, (_, n) => turnEvents(turn + n, resultBytes)).flat();
    ({ seq } = await store.append(id, batch, { afterSeq: seq, epoch }));
  }
  await store.release(id, epoch);
}

function turnEvents(n, resultBytes) {
  const turnId = `turn_${n}`;
  const inputId = `input_${n}`;
  const inTurn = (type, fields) => eventOf(type, { turnId, ...fields });
  const says = (role, content, finishReason) =>
    inTurn("message_end", {
      message: { id: `${role}_${n}_${content[0].type}`, role, content },
      ...(finishReason ? { finishReason } : {}),
    });
  const call = { toolCallId: `call_${n}`, toolName: "bench_tool" };
  const text = (chars) => [{ type: "text", text: prose(n, chars) }];
  return [
    eventOf("input_accepted", { inputId, delivery: "send", content: "go on" }),
    inTurn("agent_start", { modeId: "default", modelId: "fake/fake-model", resumed: false }),
    inTurn("input_taken", { inputId }),
    says("user", text(100)),
    says("assistant", [{ type: "tool-call", ...call, input: { n } }], "tool-calls"),
    inTurn("tool_start", { ...call, args: { n }, key: `${turnId}:0`, effect: "once" }),
    inTurn("tool_end", { ...call, result: { content: prose(n, resultBytes) }, isError: false, durationMs: 1 }),
    says("assistant", text(300), "stop"),
    inTurn("agent_end", { reason: "complete" }),
  ];
}

const eventOf = (type, fields) => ({ type, v: 1, at: Date.now(), ...fields });
