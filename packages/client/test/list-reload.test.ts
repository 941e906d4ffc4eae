import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { connect } from "@cinch/client";

const headers = { "cinch-protocol": "1" };
const list = () => Response.json([], { headers });
const failure = () => Response.json({ error: { code: "INTERNAL", message: "no" } }, { status: 500, headers });

/** A server with an empty list, which the test answers. `cut` ends the stream that is open; the client opens the next. */
function listing() {
  let open: ReadableStreamDefaultController<Uint8Array>;
  const at = { answer: async () => list(), lists: 0, waiting: 0, streams: 0, cut: () => open.close() };
  const fetch = async (url: string): Promise<Response> => {
    if (url.includes("/threads?")) {
      at.lists++;
      at.waiting++;
      return at.answer().finally(() => at.waiting--);
    }
    if (!url.includes("/events")) return Response.json({}, { headers });
    at.streams++;
    const start = (controller: typeof open) => {
      open = controller;
      open.enqueue(new TextEncoder().encode(": hello\n\n"));
    };
    return new Response(new ReadableStream({ start }), { headers });
  };
  return { at, client: connect({ url: "http://cinch.example", fetch }) };
}

async function passed(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 250) {
    mock.timers.tick(Math.min(left, 250));
    for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
  }
}

test("however often streams reconnect, the list is loaded by one request at a time, and once more at the end", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { at, client } = listing();
  try {
    const following = client.followThreads();
    await passed(1_000);
    const changes = await following;
    const gate = Promise.withResolvers<Response>();
    const before = at.lists;
    at.answer = () => gate.promise.then((answer) => answer.clone());
    for (let cuts = 1; cuts <= 4; cuts++) {
      at.cut();
      await passed(1_000);
      assert.equal(at.streams, cuts + 1);
      assert.equal(at.waiting, 1);
    }
    gate.resolve(list());
    await passed(1_000);
    assert.equal(at.lists, before + 2, "one that was under way, and one for all that connected meanwhile");
    await changes.return!();
  } finally {
    await client.close();
    mock.timers.reset();
  }
});

for (const [name, answer] of [
  ["fails", failure],
  ["is too busy", () => Response.json({}, { status: 503, headers })],
] as const)
  test(`a list that nothing follows any more is not loaded again, although the server ${name}`, async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    const { at, client } = listing();
    try {
      const following = client.followThreads();
      await passed(1_000);
      const changes = await following;
      at.answer = async () => answer();
      at.cut();
      await passed(30_000);
      assert.ok(at.lists >= 3, "as long as it is followed, it is tried again");
      await changes.return!();
      const before = at.lists;
      await passed(60_000);
      assert.equal(at.lists, before);
    } finally {
      await client.close();
      mock.timers.reset();
    }
  });
