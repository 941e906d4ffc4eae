import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { connect } from "@cinch/client";
import { say, scriptedBy } from "@cinch/testkit";
import { serving } from "../../server/test/serving.ts";
import { faulty } from "./faults.ts";

/** As in React Native: it takes texts and other blobs, and shows nothing of what is in it. */
class NativeBlob {
  readonly type = "";

  constructor(parts: unknown[] = []) {
    if (parts.some((part) => typeof part !== "string" && !(part instanceof NativeBlob)))
      throw new Error("Creating blobs from 'ArrayBuffer' and 'ArrayBufferView' are not supported");
  }
}

/** The answers of a server whose bytes come one by one. */
const inPieces = (response: Response): Response => {
  const each = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      for (const byte of chunk) controller.enqueue(Uint8Array.of(byte));
    },
  });
  return new Response(response.body && response.body.pipeThrough(each), response);
};

test("the client runs where a Blob can't be made of bytes, as in React Native, and reads answers whole", async () => {
  await using at = await serving({ model: scriptedBy(() => say("Grüße")) });
  const there = await at.harness.createSession();
  const data = Uint8Array.from({ length: 300 }, (_, n) => n % 256);
  await there.createThread({ title: "Wörter ✓" });
  await there.sendMessage({ content: "look", files: [{ mediaType: "image/png", filename: "a.png", data }] });
  const file = there.getDisplayState().messages[0]!.content.find(({ type }) => type === "file") as { blob: string };
  const { fetch } = faulty(async ({ pass }) => inPieces(await pass()));
  mock.property(globalThis, "Blob", NativeBlob as unknown as typeof Blob);
  const client = connect({ url: at.url, fetch });
  try {
    const [thread] = await client.listThreads();
    assert.equal(thread!.title, "Wörter ✓");
    await client.switchThread({ threadId: thread!.id });
    assert.equal((await client.sendMessage({ content: "Hi" })).reason, "complete");
    assert.deepEqual((await client.readBlob({ hash: file.blob }))!.bytes, data);
  } finally {
    await client.close();
    mock.restoreAll();
  }
});
