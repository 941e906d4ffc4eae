"use client";
import { useChat } from "@ai-sdk/react";
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from "ai";

/** In a Next app this is `app/page.tsx`, and `messages` comes from `GET /v1/chat/{id}/messages?v=7`. */
export default function Page({ id, messages: initial }: { id: string; messages: UIMessage[] }) {
  const { messages, status, sendMessage, addToolApprovalResponse } = useChat({
    id,
    messages: initial,
    resume: true,
    transport: new DefaultChatTransport({ api: "/v1/chat?v=7" }),
    sendAutomaticallyWhen: (chat) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(chat) || lastAssistantMessageIsCompleteWithToolCalls(chat),
  });
  const stop = () => fetch(`/v1/chat/${id}/stop`, { method: "POST", headers: JSON_BODY, body: "{}" });
  const send = (event: React.FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { text } = event.currentTarget.elements as unknown as { text: HTMLInputElement };
    const message = sendMessage({ text: text.value });
    text.value = "";
    return message;
  };
  return (
    <main>
      {messages.map(({ id: key, role, parts }) => (
        <article key={key} data-role={role}>
          {parts.map((part, at) => {
            if (part.type === "text") return <p key={at}>{part.text}</p>;
            if (part.type !== "dynamic-tool") return null;
            const { approval } = part;
            return (
              <section key={part.toolCallId} data-state={part.state}>
                {part.toolName} {JSON.stringify(part.input)}
                {part.state === "approval-requested" && approval && (
                  <>
                    <button onClick={() => addToolApprovalResponse({ id: approval.id, approved: true })}>
                      Approve
                    </button>
                    <button onClick={() => addToolApprovalResponse({ id: approval.id, approved: false })}>
                      Decline
                    </button>
                  </>
                )}
              </section>
            );
          })}
        </article>
      ))}
      <form onSubmit={send}>
        <input name="text" autoFocus />
        <button disabled={status !== "ready"}>Send</button>
        {status === "streaming" && (
          <button type="button" onClick={stop}>
            Stop
          </button>
        )}
      </form>
    </main>
  );
}

const JSON_BODY = { "content-type": "application/json" };
