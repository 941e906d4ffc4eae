import assert from "node:assert/strict";
import { Agent, defineTool, Harness, textOf, type Delivery, type DurableEvent, type Store } from "@cinch/core";
import { call, say, scriptedBy, type Step } from "@cinch/testkit";
import * as z from "zod";

const look = defineTool({
  description: "Looks something up",
  category: "read",
  effect: "pure",
  input: z.object({}),
  execute: () => "seen",
});

export const ANSWER = "done at last";

/** Answers when the test allows it, and first calls `look` if the message asks for it. */
export function process(storage: Store, mayAnswer: () => Promise<void> = async () => undefined): Harness {
  const model = scriptedBy(({ prompt }) => {
    const last = prompt.at(-1);
    const looks = last?.role === "user" && JSON.stringify(last.content).includes("look");
    return when(mayAnswer, looks ? call("look") : say(ANSWER, { size: 1 }));
  });
  return new Harness({ id: "test", storage, agent: new Agent({ name: "a", model, tools: { look } }) });
}

const when = (isTime: () => Promise<void>, step: Step): Step =>
  async function* (options) {
    await isTime();
    yield* step(options);
  };

export const isIdle = (seat: Harness): boolean => {
  const { status, inbox } = seat.getDisplayState();
  return status === "idle" && inbox.length === 0;
};

/** No test here waits for time, so a minute is a generous limit. */
export async function until(isTrue: () => boolean, what: string): Promise<void> {
  for (const end = Date.now() + 60_000; !isTrue(); await new Promise((resolve) => setImmediate(resolve)))
    assert.ok(Date.now() < end, what);
}

/** Settles when no input is queued and no turn is running. */
export const idle = (what: string, ...seats: Harness[]): Promise<void> =>
  until(() => seats.every(isIdle), `${what}: never idle`);

/** Waits long enough for all pending work to be done. */
export async function quiet(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
}

interface Queued {
  delivery: Delivery;
  content: string;
}

const kindOf = ({ delivery }: Queued): string => (delivery === "steer" ? "steer" : "follow-up");

/**
 * Every input that was taken is delivered once, as it was last edited, in the order in which inputs of its kind were accepted. An input
 * that was taken is not edited or removed later, and no turn is complete while a steer waits. Returns the inputs that are still queued.
 */
export function assertDelivered(journal: readonly DurableEvent[], what: string): string[] {
  const inbox = new Map<string, Queued>();
  const delivered: string[] = [];
  for (const event of journal) {
    switch (event.type) {
      case "input_accepted":
        inbox.set(event.inputId, { delivery: event.delivery, content: event.content });
        break;
      case "input_edited":
        assert.ok(inbox.has(event.inputId), `${what}: edited what was not queued`);
        inbox.get(event.inputId)!.content = event.content;
        break;
      case "input_removed":
        assert.ok(inbox.delete(event.inputId), `${what}: removed what was not queued`);
        break;
      case "input_taken": {
        const taken = inbox.get(event.inputId);
        assert.ok(taken, `${what}: "${event.inputId}" was taken and not queued`);
        const first = [...inbox.values()].find((other) => kindOf(other) === kindOf(taken));
        assert.equal(taken.content, first?.content, `${what}: not in order`);
        inbox.delete(event.inputId);
        delivered.push(taken.content);
        break;
      }
      case "agent_end": {
        const steers = [...inbox.values()].filter(({ delivery }) => delivery === "steer");
        assert.ok(event.reason !== "complete" || steers.length === 0, `${what}: a turn has ended past a steer`);
        break;
      }
    }
  }
  assert.deepEqual(saidIn(journal), delivered, `${what}: what was taken is not what was said`);
  return [...inbox.values()].map(({ content }) => content);
}

/** The texts of the user, in order. */
export const saidIn = (journal: readonly DurableEvent[]): string[] =>
  journal.flatMap((event) =>
    event.type === "message_end" && event.message.role === "user" ? [textOf(event.message.content)] : [],
  );
