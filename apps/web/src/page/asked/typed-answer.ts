import type { PendingApproval, PendingSuspension } from "@cinch/core";
import type { RemoteSession } from "@cinch/client";
import { useEffect, useState } from "preact/hooks";
import { useCommand, useSeat } from "../page-context.ts";
import { addToDraft } from "../ui/draft.ts";
import { inTab } from "../ui/kept-texts.ts";

export type AskedQuestion = PendingApproval | PendingSuspension;

interface Options {
  question: AskedQuestion;
  /** Of several texts for one question. */
  name?: string;
  /** What it begins with. */
  given?: string;
  /** Not words: a message with it would mean nothing. */
  isCode?: boolean;
}

interface TypedAnswer {
  text: string;
  set: (text: string) => void;
  /** It is on its way, and can't be changed. */
  isSent: boolean;
  send: (answer: () => Promise<unknown>) => void;
}

/** What is on its way, by its key. */
const underWay = new Set<string>();

/**
 * What a user types for a question. After a reload, and after a look at another thread, it is there again. When the question is gone without
 * it, because another person answered, it is in the composer.
 */
export function useTypedAnswer({ question, name = "", given = "", isCode = false }: Options): TypedAnswer {
  const seat = useSeat();
  const run = useCommand();
  const current = seat.getCurrentThreadId();
  const key = `cinch-answer-${question.threadId}-${question.seq}${name}`;
  const [text, setText] = useState(() => inTab.get(key) ?? given);
  const [isSent, setSent] = useState(false);
  const rescue = () => {
    const typed = inTab.get(key);
    if (typed === null || underWay.has(key) || seat.getCurrentThreadId() !== current || isAsked(seat, question)) return;
    inTab.set(key, null);
    if (!isCode && typed.trim() !== "") addToDraft(current!, typed);
  };
  useEffect(() => rescue, []);
  const set = (next: string) => {
    inTab.set(key, next === given ? null : next);
    setText(next);
  };
  const sent = async (answer: () => Promise<unknown>) => {
    underWay.add(key);
    setSent(true);
    try {
      await answer();
      inTab.set(key, null);
    } catch (error) {
      setSent(false);
      throw error;
    } finally {
      underWay.delete(key);
      rescue();
    }
  };
  const send: TypedAnswer["send"] = (answer) => underWay.has(key) || run(() => sent(answer));
  return { text, set, isSent, send };
}

function isAsked(seat: RemoteSession, { threadId, seq }: AskedQuestion): boolean {
  const { pendingApprovals, pendingSuspensions } = seat.getDisplayState();
  return [pendingApprovals, pendingSuspensions]
    .flatMap((asked) => Object.values<AskedQuestion>(asked))
    .some((one) => one.threadId === threadId && one.seq === seq);
}
