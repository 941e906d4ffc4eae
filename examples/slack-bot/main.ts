/**
 * A bot for a team chat: several people, a Cinch thread for each chat thread, and buttons for approvals and retries that survive a restart.
 *
 * The chat is simulated in chat.ts. With a real one, its SDK calls `message` and `press` of the bot, and the bot calls its API.
 */
import { Agent, CinchError, defineTool, Harness, textOf, type Decision, type Session } from "@cinch/core";
import { sqliteStore } from "@cinch/sqlite";
import { call, fail, say, scriptedBy } from "@cinch/testkit";
import * as z from "zod";
import { Chat, type ChatMessage, type Place, type Press, type Receiver } from "./chat.ts";

const MAY_APPROVE = ["ada"];

const refunded: number[] = [];
const refund = defineTool({
  description: "Refunds an order",
  category: "execute", // needs approval
  input: z.object({ order: z.int() }),
  execute: ({ order }) => `Order ${order} is refunded (refund ${refunded.push(order)}).`,
});

// Calls the tool when a message says "refund", then repeats the result. Fails once. Replace it by a real model.
const failures = [fail(Object.assign(new Error("No credit left"), { statusCode: 402 }))];
const model = scriptedBy(({ prompt }) => {
  const last = prompt.at(-1);
  const text = JSON.stringify(last?.content);
  if (last?.role === "tool") return say(/Order [^"]*\./.exec(text)?.[0] ?? "That was not possible.");
  const order = /refund order (\d+)/.exec(text)?.[1];
  if (order) return call("refund", { order: Number(order) });
  return failures.pop() ?? say("I can refund orders: say which.");
});

class Bot implements Receiver {
  readonly #chat: Chat;
  readonly #harness: Harness;
  readonly #sessions = new Map<string, Promise<Session>>();

  constructor(chat: Chat) {
    this.#chat = chat;
    this.#harness = new Harness({
      id: "slack-bot",
      storage: sqliteStore({ path: "cinch.db" }),
      agent: new Agent({
        name: "support",
        model,
        instructions: "Messages begin with who says them.",
        tools: { refund },
      }),
    });
  }

  /** The chat may deliver a message twice. Because of its id, it is accepted once. */
  async message({ id, user, text, ...place }: ChatMessage): Promise<void> {
    const session = await this.#sessionOf(place);
    await session.post({ id, content: `${user}: ${text}`, delivery: "send" });
  }

  async press({ user, value, ...place }: Press): Promise<void> {
    const session = await this.#sessionOf(place);
    try {
      if (value["action"] === "retry") return void (await session.retry()); // the message need not be sent again
      if (!MAY_APPROVE.includes(user)) return this.#chat.whisper(place, user, "You may not answer this.");
      const { toolCallId, digest, decision } = value as { toolCallId: string; digest: string; decision: Decision };
      await session.respondToToolApproval({ toolCallId, digest, decision, by: user });
    } catch (error) {
      // ALREADY_ANSWERED, NOT_PENDING, nothing to retry: the message says so.
      if (!(error instanceof CinchError)) throw error;
      this.#chat.whisper(place, user, error.message);
    }
  }

  /** Each chat thread is a resource of its own. Its newest Cinch thread is the conversation, in this process and the next. */
  #sessionOf(place: Place): Promise<Session> {
    const key = `${place.channel}/${place.thread}`;
    const known = this.#sessions.get(key) ?? this.#open(key, place);
    this.#sessions.set(key, known);
    return known;
  }

  async #open(key: string, place: Place): Promise<Session> {
    const session = await this.#harness.createSession({ resourceId: `chat:${key}` });
    session.subscribe((event) => {
      switch (event.type) {
        case "message_end": {
          const text = textOf(event.message.content);
          if (event.message.role === "assistant" && text !== "") this.#chat.post(place, text);
          break;
        }
        case "tool_approval_required": {
          const { toolName, args, toolCallId, digest } = event;
          const button = (label: string, decision: Decision) => ({ label, value: { toolCallId, digest, decision } });
          const buttons = [button("Approve", "approve"), button("Decline", "decline")];
          this.#chat.post(place, `May I ${toolName} ${JSON.stringify(args)}?`, buttons);
          break;
        }
        case "tool_approval_resolved":
          this.#chat.post(place, `${event.decision} by ${event.by}`);
          break;
        case "error":
          this.#chat.post(place, `Sorry: ${event.message}`, [{ label: "Retry", value: { action: "retry" } }]);
      }
    });
    await session.selectOrCreateThread();
    return session;
  }

  /** Pending approvals stay pending without a process. */
  stop(): Promise<void> {
    return this.#harness.close();
  }
}

const chat = new Chat();
const start = () => (chat.receiver = new Bot(chat)) as Bot;
let bot = start();

const one = { channel: "shop", thread: "t1" };
const two = { channel: "shop", thread: "t2" };
const request = { ...one, id: "m1", user: "bob", text: "refund order 17 please" };
await chat.say(request);
await chat.posted("May I refund");
await chat.say({ ...two, id: "m2", user: "cleo", text: "what can you do?" });
await chat.posted("Sorry");
await chat.press("cleo", two, "Retry");
await chat.posted("I can refund orders");
await chat.receiver!.message(request); // delivered again

await bot.stop();
console.log("(the bot restarts)");
bot = start();

await chat.press("bob", one, "Approve");
await chat.press("ada", one, "Approve");
await chat.posted("is refunded");
await chat.press("ada", one, "Decline");
console.log(`(refunded: ${refunded.join()})`);
await bot.stop();
