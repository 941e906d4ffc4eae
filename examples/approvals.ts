/**
 * Approvals across processes: one process asks and ends, a second one lists what waits, answers it and finishes the turn.
 *
 * Run without an argument, the program starts itself twice, on one store, as a web server and a worker might.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { Agent, defineTool, Harness, textOf } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";

const deploy = defineTool({
  description: "Deploys a build",
  category: "execute", // asks, unless a rule allows it
  input: z.object({ target: z.string(), build: z.int() }),
  execute({ target, build }) {
    appendFileSync("deployed.txt", `${target} ${build}\n`);
    return `Build ${build} runs on ${target}.`;
  },
});

/** Both processes have the same configuration, so either can continue the turn. */
const newHarness = () =>
  new Harness({
    id: "approvals",
    storage: sqliteStore({ path: "cinch.db" }),
    agent: new Agent({
      name: "deployer",
      model: script(call("deploy", { target: "production", build: 41 }), say("Build 42 is live.")),
      tools: { deploy },
    }),
  });

const print = (text: string) => console.log(`[process ${process.pid}] ${text}`);

async function ask(): Promise<void> {
  const harness = newHarness();
  await harness.createThread({ title: "Release" });
  // `post` settles when the message is durable. `sendMessage` would wait for the end of the turn, and the turn waits for a person.
  await harness.post({ content: "Release it.", delivery: "send" });
  const { pending } = await harness.settled(); // settles when only a person can continue
  print(`${pending[0]?.toolName} waits for a yes; this process ends`);
  await harness.close();
}

async function answer(): Promise<void> {
  const harness = newHarness();
  for (const { threadId, title, toolCallId, toolName, args, digest } of await harness.pendingApprovals()) {
    print(`"${title}" waits: ${toolName} ${JSON.stringify(args)}`);
    const session = await harness.createSession({ threadId });
    // `digest` binds the answer to the arguments that were shown. `edit` runs the call with other arguments.
    const edited = { target: "production", build: 42 };
    await session.respondToToolApproval({ toolCallId, digest, decision: "edit", args: edited, by: "ada" });
    await session.settled();
    const last = session.getDisplayState().messages.at(-1);
    print(`the turn went on here: ${textOf(last?.content ?? [])}`);
    // Only the first answer counts.
    const again = session.respondToToolApproval({ toolCallId, decision: "approve" });
    print(
      `a second answer is ${await again.then(
        () => "accepted",
        (error: { code: string }) => error.code,
      )}`,
    );
  }
  print(`waiting now: ${(await harness.pendingApprovals()).length}`);
  await harness.close();
}

const role = process.argv[2];
if (role === "ask") await ask();
else if (role === "answer") await answer();
else {
  for (const part of ["ask", "answer"]) {
    const { status } = spawnSync(process.execPath, [...process.execArgv, import.meta.filename, part], {
      stdio: "inherit",
    });
    if (status !== 0) throw new Error(`The process that should ${part} failed.`);
  }
  console.log(`deployed: ${readFileSync("deployed.txt", "utf8").trim()}`);
}
