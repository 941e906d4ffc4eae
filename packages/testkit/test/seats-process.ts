import process from "node:process";
import { talker } from "./seats-talker.ts";

/** A process with a seat at thread "t": `seats-process FOLDER SINCE`. It tells its parent what it sees, and does what it is told. */
const [folder = "", since = ""] = process.argv.slice(2);
const harness = talker(folder);
const session = await harness.createSession({ threadId: "t" });
const off = session.subscribe((event) => process.send!({ event }), since === "" ? {} : { since: Number(since) });
process.send!({ ready: true });

process.on("message", ({ method, content }: { method: "sendMessage" | "steer"; content: string }) =>
  session[method]({ content }),
);
process.on("disconnect", () => {
  off();
  return harness.close();
});
