import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { newDisplayState } from "@cinch/core";
import { connect, type Client } from "@cinch/client";

const headers = { "cinch-protocol": "1" };
const threadId = "t";
const control = { modeId: "default", modelId: "m", rules: [], grants: [], state: {} };
const resync = { type: "resync", seq: 0, displayState: newDisplayState(threadId), control };
const hash = "a".repeat(64);

/** A server of which only the requests to `slow` matter: the test answers them. */
async function withSlow(
  slow: string,
  answer: (tries: number, signal: AbortSignal) => Promise<Response>,
  work: (client: Client, tries: () => number) => Promise<void>,
): Promise<void> {
  let tries = 0;
  const fetch = async (url: string, { signal }: RequestInit) => {
    if (url.includes(slow)) return answer(++tries, signal!);
    if (!url.includes("/events")) return Response.json({ id: threadId, control }, { headers });
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(resync)}\n\n`));
        signal!.addEventListener("abort", () => controller.error(signal!.reason));
      },
    });
    return new Response(body, { headers });
  };
  mock.timers.enable({ apis: ["setTimeout"] });
  const client = connect({ url: "http://cinch.example", fetch });
  try {
    await client.switchThread({ threadId });
    await work(client, () => tries);
  } finally {
    await client.close();
    mock.timers.reset();
  }
}

async function passed(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 500) {
    mock.timers.tick(Math.min(left, 500));
    for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
  }
}

const never = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));

/** A body that comes in pieces, one each 30 s. */
function trickling(text: string, pieces: number, signal: AbortSignal): Response {
  const bytes = new TextEncoder().encode(text);
  const size = Math.ceil(bytes.length / pieces);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      signal.addEventListener("abort", () => controller.error(signal.reason));
      for (let n = 0; n < pieces; n++)
        setTimeout(
          () => {
            controller.enqueue(bytes.slice(n * size, (n + 1) * size));
            if (n === pieces - 1) controller.close();
          },
          30_000 * (n + 1),
        );
    },
  });
  return new Response(body, { headers });
}

for (const [name, slow, text, read] of [
  [
    "a file",
    "/blobs/",
    "Wörter",
    async (client: Client) => new TextDecoder().decode((await client.readBlob({ hash }))!.bytes),
  ],
  ["a list", "/listMessages", '["Wörter"]', async (client: Client) => JSON.stringify(await client.listMessages())],
] as const)
  test(`${name} whose bytes keep arriving may take longer than 40 s, and a silence of 40 s ends it`, async () => {
    const answer = async (tries: number, signal: AbortSignal) =>
      tries === 1
        ? new Response(new ReadableStream({ start: () => void never(signal).catch(() => undefined) }), { headers })
        : trickling(text, 4, signal);
    await withSlow(slow, answer, async (client, tries) => {
      const file = read(client);
      await passed(39_000);
      assert.equal(tries(), 1);
      await passed(3_000);
      assert.equal(tries(), 2);
      await passed(121_000);
      assert.equal(tries(), 2, "it is not begun again");
      assert.equal(await file, text);
    });
  });

for (const [name, slow, read] of [
  ["a file", "/blobs/", (client: Client) => client.readBlob({ hash })],
  ["a list", "/listMessages", (client: Client) => client.listMessages()],
] as const)
  test(`commands do not wait for ${name} that is read`, async () => {
    const answer = (_: number, signal: AbortSignal) => never(signal);
    await withSlow(slow, answer, async (client, tries) => {
      const reading = read(client).catch((error: unknown) => error);
      await passed(1);
      assert.equal(tries(), 1);
      await client.renameThread({ title: "x" });
      await client.close();
      assert.equal(((await reading) as { code: string }).code, "CLOSED");
    });
  });

test("an upload has the time of a slow line, and each try has longer; then it is sent again", async () => {
  const data = new Uint8Array(320_000);
  const answer = (tries: number, signal: AbortSignal) =>
    tries < 3 ? never(signal) : Promise.resolve(Response.json({}, { headers }));
  await withSlow("/post", answer, async (client, tries) => {
    const posted = client.post({
      content: "look",
      delivery: "send",
      files: [{ mediaType: "image/png", filename: "a.png", data }],
    });
    await passed(49_000);
    assert.equal(tries(), 1);
    await passed(3_000);
    assert.equal(tries(), 2, "10 s at 32 kB/s, and 40 s for the answer");
    await passed(55_000);
    assert.equal(tries(), 2);
    await passed(10_000);
    assert.equal(tries(), 3);
    await posted;
  });
});
