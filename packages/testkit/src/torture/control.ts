import type { ApprovalAnswer, DurableEvent, Harness, Task } from "@cinch/core";
import { call, say, type Step } from "../model.ts";
import { until } from "./until.ts";

const todos = (plan: Task["status"], build: Task["status"]) => ({
  todos: [
    { content: "Plan it", status: plan },
    { content: "Build it", status: build },
  ],
});

/** The steps of the scripted model in the second half of the scenario, which needs approvals and answers. */
export const controlOrders: Record<string, Step[]> = {
  plan: [
    call("write_todos", todos("in_progress", "pending")),
    call("submit_plan", { title: "The plan", plan: "Build it." }),
    call(["guarded", { what: "as asked" }], ["once", { what: "beside the asking" }]),
    call(["guarded", { what: "to be changed" }], ["ask_user", { question: "Which?" }]),
    call("guarded", { what: "for ever" }),
    call("guarded", { what: "for ever" }),
    call(["guarded", { what: "rather not" }], ["forbidden", { what: "never" }]),
    call("write_todos", todos("completed", "in_progress")),
    say("built"),
  ],
  stop: [call(["guarded", { what: "no more" }], ["pure", { what: "beside the end" }]), say("never said")],
  dare: [call(["guarded", { what: "unasked" }], ["forbidden", { what: "not even now" }]), say("dared")],
};

/** The answers to approvals, by the argument `what` of the call. */
const answers: Record<string, ApprovalAnswer> = {
  "as asked": { decision: "approve" },
  "to be changed": { decision: "edit", args: { what: "changed" } },
  "for ever": { decision: "always_allow_tool" },
  "rather not": { decision: "decline", message: "Rather not." },
  "no more": { decision: "decline" },
};

const OTHER_MODEL = "scripted/another";

/** The control state of the thread at the end. A clone starts with all of it but the grants. */
export const finalControl = {
  modeId: "build",
  models: { build: OTHER_MODEL },
  yolo: true,
  rules: ["forbidden deny"],
  grants: ["guarded allow for ever"],
  tasks: ["Plan it: completed", "Build it: in_progress"],
};

type Accepted = (what: string) => void;

export async function forbid(h: Harness, accepted: Accepted): Promise<void> {
  const isForbidden = h.getPermissionRules().some((rule) => "toolName" in rule && rule.toolName === "forbidden");
  if (!isForbidden) await h.setPermissionForTool({ toolName: "forbidden", policy: "deny" });
  accepted("forbidden");
}

/** Modes, a plan, approvals of every kind, another model and YOLO. `done`: the events that the thread already has. */
export async function playControl(h: Harness, done: readonly DurableEvent[], accepted: Accepted): Promise<void> {
  if (!done.some((event) => event.type === "input_accepted" && event.inputId === "plan")) {
    await h.switchMode({ modeId: "plan" });
    accepted("mode plan");
  }
  await order(h, "plan", accepted);
  await order(h, "stop", accepted);
  if (h.getCurrentModelId() !== OTHER_MODEL) await h.switchModel({ modelId: OTHER_MODEL });
  accepted("model");
  if (!h.getState().yolo) await h.setState({ yolo: true });
  accepted("yolo");
  await order(h, "dare", accepted);
}

/** Sends an order, and answers every question until the turn has ended. */
async function order(h: Harness, id: string, accepted: Accepted): Promise<void> {
  await h.post({ id, content: `DO ${id}`, delivery: "send" });
  accepted(`input ${id}`);
  for (;;) {
    await until(h, ({ status, inbox }) => status === "waiting" || (status === "idle" && inbox.length === 0));
    const { status, pendingApproval, pendingSuspensions } = h.getDisplayState();
    if (status === "idle") return;
    const [question] = Object.values(pendingSuspensions);
    if (question) {
      const { toolCallId, toolName } = question;
      const resumeData = toolName === "submit_plan" ? { action: "approved" } : "That one.";
      await h.respondToToolSuspension({ toolCallId, resumeData });
      accepted(`answered ${toolName}`);
    } else if (pendingApproval) {
      const { toolCallId, digest, args } = pendingApproval;
      const answer = answers[(args as { what: string }).what]!;
      await h.respondToToolApproval({ ...answer, toolCallId, digest });
      accepted(`decided ${answer.decision} ${toolCallId}`);
    }
  }
}
