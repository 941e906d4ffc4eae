import process from "node:process";
import { Agent, defineTool, Harness } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";

/** A program whose calls get no answer. `wait`: it waits for its turn. `close`: it closes the harness when calls wait. */
const note = defineTool({ description: "Notes", input: z.object({ what: z.string() }), execute: () => "noted" });
const model = script(call(["note", { what: "it" }, "a"], ["ask_user", { question: "Which?" }, "b"]), say("done"));
const h = new Harness({ id: "script", agent: new Agent({ name: "a", model, tools: { note } }) });
const turn = h.sendMessage({ content: "go" });
if (process.argv[2] === "close") {
  turn.catch(() => undefined);
  await h.settled();
  await h.close();
} else await turn;
