import { Agent, defineTool, Harness } from "@cinch/core";
import { call, say, script } from "@cinch/testkit";
import * as z from "zod";

const deploy = defineTool({
  description: "Deploys the current build",
  category: "execute",
  effect: "once",
  input: z.object({ target: z.enum(["staging", "production"]) }),
  timeoutMs: 60_000,
  async execute({ target }, { suspend, resumed, emit }) {
    if (!resumed) return suspend({ question: `Really to ${target}?` }); // the call waits, durably
    if (resumed.data !== "yes") return "The user said no.";
    emit({ progress: 50 }); // subscribers see it as tool_update
    return { content: `Deployed to ${target}.`, details: { url: "https://example.org" } };
  },
});

const model = script(call("deploy", { target: "staging" }), say("It is up."));
const agent = new Agent({ name: "deployer", model, tools: { deploy } });
const harness = new Harness({ id: "tools", agent, permissions: [{ toolName: "deploy", policy: "allow" }] });
await harness.init();
harness.subscribe((event) => {
  if (event.type !== "tool_suspended") return;
  // Here, in another process, or in another week: the first answer stands.
  harness.respondToToolSuspension({ toolCallId: event.toolCallId, resumeData: "yes" }).catch(console.error);
});
await harness.sendMessage({ content: "Ship it" });
await harness.close();
