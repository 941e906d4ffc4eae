import { textOf, type HarnessEvent } from "@cinch/core";

interface Frame {
  id?: string;
  event: HarnessEvent;
}

/** The frames of a stream of server-sent events. */
async function* framesOf(url: string, lastEventId: number): AsyncGenerator<Frame> {
  const { body } = await fetch(url, { headers: { "last-event-id": String(lastEventId) } });
  let text = "";
  for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
    const blocks = (text + chunk).split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const id = /^id: (.*)$/m.exec(block)?.[1];
      yield { ...(id ? { id } : {}), event: JSON.parse(/^data: (.*)$/m.exec(block)![1]!) as HarnessEvent };
    }
  }
}

/** Simulates a browser: follows the thread, loses its connection during an answer, posts a message, and reconnects. */
export async function playBrowser(address: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  const send = (id: string, content: string) =>
    fetch(`${address}/messages`, { method: "POST", headers, body: JSON.stringify({ id, content }) });

  const seen: number[] = [];
  let sent: Promise<unknown> | undefined;
  const follow = async (isEnough: (event: HarnessEvent) => boolean) => {
    for await (const { id, event } of framesOf(`${address}/events`, seen.at(-1) ?? 0)) {
      if (id) seen.push(Number(id));
      if (event.type === "message_end") console.log(`${event.message.role}: ${textOf(event.message.content)}`);
      if (isEnough(event)) return;
    }
  };

  await follow(({ type }) => {
    if (type === "thread_created") sent = send("m1", "Hello");
    return type === "message_update";
  });
  await sent;
  console.log("(disconnected in the middle of the answer)");
  const answers = await Promise.all([send("m2", "Still there?"), send("m2", "Still there?")]);
  console.log(`(posted twice: ${answers.map(({ status }) => status).join(", ")})`);
  let turns = 0;
  await follow(({ type }) => type === "agent_end" && ++turns === 2);
  const wrong = seen.filter((seq, at) => seq !== at + 1).length;
  console.log(`(reconnected: ${seen.length} events, ${wrong} of them missing or seen twice)`);
  const empty = await send("m3", "");
  console.log(`(an empty message: ${empty.status} ${await empty.text()})`);
}
