/** A server in a process of its own, with threads of one turn: `node server-process.mjs '{ folder, port, threads }'`. Says how much CPU it used. */
import { cpuMicros, served, textModel } from "./served.mjs";

const { folder, port: wanted, threads } = JSON.parse(process.argv[2]);
const { harness, port } = await served({ folder, port: wanted, model: textModel(() => ["Hello"]) });
const session = await harness.createSession();
const paths = [];
for (let n = 0; n < threads; n++) {
  const { id } = await session.createThread();
  await session.sendMessage({ content: "Hello" });
  paths.push(`/v1/threads/${id}/events`);
}
const started = cpuMicros();
process.on("message", () => process.send({ cpuMs: (cpuMicros() - started) / 1_000 }));
process.send({ port, paths, seq: session.getDisplayState().seq });
