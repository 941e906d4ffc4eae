import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { newDisplayState } from "@cinch/core";
import { connect, type Client } from "@cinch/client";
import { isStream } from "./faults.ts";

const headers = { "cinch-protocol": "1" };
const threadId = "t";
const control = { modeId: "default", modelId: "m", rules: [], grants: [], state: {} };
const resync = { type: "resync", seq: 0, displayState: newDisplayState(threadId), control };

/** A server of which only streams matter: each says its first frame, and then what the test says. */
function streaming() {
  const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  const polls: string[] = [];
  let firstFrame: string | null = `data: ${JSON.stringify(resync)}\n\n`;
  const send = (text: string) => streams.at(-1)!.enqueue(new TextEncoder().encode(text));
  const fetch = async (url: string, init: RequestInit) => {
    if (!url.includes("/events")) return Response.json({ id: threadId, control }, { headers });
    if (!isStream(init)) {
      polls.push(url);
      return Response.json([resync], { headers });
    }
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        streams.push(controller);
        if (firstFrame !== null) send(firstFrame);
        init.signal!.addEventListener("abort", () => controller.error(init.signal!.reason));
      },
    });
    return new Response(body, { headers });
  };
  return { fetch, send, streams, polls, silence: () => (firstFrame = null) };
}

async function passed(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 500) {
    mock.timers.tick(Math.min(left, 500));
    for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
  }
}

async function withClient(
  server: ReturnType<typeof streaming>,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  mock.timers.enable({ apis: ["setTimeout"] });
  const client = connect({ url: "http://cinch.example", fetch: server.fetch });
  try {
    await work(client);
  } finally {
    await client.close();
    mock.timers.reset();
  }
}

test("a stream without a byte for 40 s is dead, and another one is opened; a heartbeat keeps it alive", async () => {
  const server = streaming();
  await withClient(server, async (client) => {
    await client.switchThread({ threadId });
    await passed(35_000);
    server.send(": \n\n");
    await passed(35_000);
    assert.equal(server.streams.length, 1);
    await passed(10_000);
    assert.equal(server.streams.length, 2);
  });
});

test("a stream that says nothing at all is replaced by requests", async () => {
  const server = streaming();
  server.silence();
  await withClient(server, async (client) => {
    const entered = client.switchThread({ threadId });
    await passed(9_000);
    assert.deepEqual([server.streams.length, server.polls.length], [1, 0]);
    await passed(5_000);
    await entered;
    assert.ok(server.polls.length > 0);
  });
});

test("while it waits, a client that is online again tries at once", async () => {
  const events = new EventTarget();
  Object.assign(globalThis, {
    addEventListener: events.addEventListener.bind(events),
    removeEventListener: events.removeEventListener.bind(events),
  });
  try {
    const server = streaming();
    await withClient(server, async (client) => {
      await client.switchThread({ threadId });
      server.streams[0]!.close();
      await passed(100);
      assert.equal(server.streams.length, 1);
      events.dispatchEvent(new Event("online"));
      await passed(1);
      assert.equal(server.streams.length, 2);
    });
  } finally {
    Object.assign(globalThis, { addEventListener: undefined, removeEventListener: undefined });
  }
});
