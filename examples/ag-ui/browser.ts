/** A page with a client of AG-UI, without a framework: it draws all messages again whenever one changes. */
import { HttpAgent, type Message } from "@ag-ui/client";

const agent = new HttpAgent({ url: "/v1/agui", threadId: "my-thread" });
const list = document.querySelector("main")!;
const form = document.querySelector("form")!;

agent.subscribe({ onMessagesChanged: draw, onRunFinalized: draw, onRunFailed: ({ error }) => show(error.message) });

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const content = new FormData(form).get("text");
  form.reset();
  agent.addMessage({ id: crypto.randomUUID(), role: "user", content: String(content) });
  void agent.runAgent().catch(show);
});

// The conversation so far, and the turn that is under way.
void agent.runAgent().catch(show);

function draw(): void {
  list.replaceChildren(...agent.messages.flatMap(drawn), ...agent.pendingInterrupts.map(asked));
}

/** Texts of a model are text: `textContent` never makes elements of them. */
function drawn(message: Message): HTMLElement[] {
  if (message.role !== "user" && message.role !== "assistant") return [];
  if (typeof message.content !== "string" || message.content === "") return [];
  const text = document.createElement("p");
  text.dataset["role"] = message.role;
  text.textContent = message.content;
  return [text];
}

/** A turn that waits: the next run brings the answer. */
function asked({ id, metadata }: (typeof agent.pendingInterrupts)[number]): HTMLElement {
  const question = document.createElement("section");
  question.append(`${metadata?.["toolName"]} ${JSON.stringify(metadata?.["args"])} `);
  for (const decision of ["approve", "decline"]) {
    const button = document.createElement("button");
    button.textContent = decision;
    button.addEventListener("click", () => {
      question.remove();
      void agent.runAgent({ resume: [{ interruptId: id, status: "resolved", payload: { decision } }] }).catch(show);
    });
    question.append(button);
  }
  return question;
}

function show(error: unknown): void {
  list.append(String(error));
}
