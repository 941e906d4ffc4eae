import process from "node:process";
import { talker } from "../talker.ts";

/** A session at thread "t": `subscriber FOLDER SINCE`. It sends the events to its parent, and runs the commands of its parent. */
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
