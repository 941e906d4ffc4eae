/**
 * A conversation as a page, with approvals: `createRoot(document.body).render(<Page session={session} />)`, where the session comes from
 * `connect({ url, token }).createSession({ threadId })`. With Preact, alias `react` to `preact/compat`.
 */
import type { SessionFace } from "@cinch/client";
import { useThread } from "@cinch/client/react";
import type { FormEvent } from "react";

export function Page({ session }: { session: SessionFace }) {
  const { title, messages, currentMessage, pendingApproval, status } = useThread(session);
  const said = currentMessage ? [...messages, currentMessage] : messages;
  function send(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const content = String(new FormData(event.currentTarget).get("content"));
    event.currentTarget.reset();
    session.post({ content, delivery: "send" }).catch(alert);
  }
  const answer = (decision: "approve" | "decline") => session.respondToToolApproval({ decision }).catch(alert);
  return (
    <main>
      <h1>
        {title || "A new thread"} ({status})
      </h1>
      {said.map(({ id, role, content }) => (
        <p key={id} className={role}>
          {content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("")}
        </p>
      ))}
      {pendingApproval && (
        <section>
          {pendingApproval.toolName} {JSON.stringify(pendingApproval.args)}
          <button onClick={() => answer("approve")}>Approve</button>
          <button onClick={() => answer("decline")}>Decline</button>
        </section>
      )}
      <form onSubmit={send}>
        <input name="content" required aria-label="Message" />
      </form>
    </main>
  );
}
