import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { CinchError } from "@cinch/core";
import { CountedDrive, TestEngine } from "./engine.ts";
import { sharedRestate } from "./server.ts";
import { until } from "../../postgres/test/until.ts";

/** Calls the service of the engine through Restate, and waits for its answer. */
async function call({ options }: TestEngine, body: string): Promise<{ status: number; text: string }> {
  const service = `cinch-${new URL(options.advertise).host.replace(":", "-")}`;
  const response = await fetch(`${options.ingress}/${service}/drive`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return { status: response.status, text: await response.text() };
}

describe("calls of the service", { concurrency: true }, () => {
  test("nonsense is answered at once, and is brought to no worker", async () => {
    await using engine = await TestEngine.make();
    const driven: string[] = [];
    await engine.worker((threadId) => {
      driven.push(threadId);
      return "done";
    });
    for (const body of ["", "{", "null", "[]", "5", "{}", '{"threadId":5}', '{"threadId":""}', '{"thread_id":"t"}']) {
      const { status, text } = await call(engine, body);
      assert.equal(status, 400, body);
      assert.match(text, /drive takes/, body);
    }
    assert.deepEqual(driven, []);
  });

  test("an unknown thread and a deleted one are answered, and not tried again", async () => {
    await using engine = await TestEngine.make();
    let drives = 0;
    await engine.worker(() => {
      drives += 1;
      throw new CinchError("THREAD_NOT_FOUND", 'There is no thread "gone".');
    });
    const { status, text } = await call(engine, '{"threadId":"gone"}');
    assert.equal(status, 500);
    assert.match(text, /There is no thread/);
    assert.equal(drives, 1);
  });

  test("a call that Restate did not sign reaches no worker", async () => {
    await using engine = await TestEngine.make();
    const counted = new CountedDrive();
    await engine.worker(counted.drive);
    const headers = { "content-type": "application/vnd.restate.invocation.v5" };
    for (const path of ["/discover", `/invoke/cinch-127.0.0.1-${engine.port}/drive`, "/", "/nonsense"]) {
      const forged = { ...headers, "x-restate-signature-scheme": "v1", "x-restate-jwt-v1": "e30.e30.e30" };
      for (const sent of [headers, forged]) {
        const { status } = await fetch(`${engine.options.advertise}${path}`, {
          method: "POST",
          headers: sent,
          body: "{}",
        });
        assert.ok(status >= 400 && status < 500, `${path}: ${status}`);
      }
    }
    assert.equal(counted.drives, 0);
  });

  test("workers that expect another key are given up after a few attempts", async () => {
    await using engine = await TestEngine.make({ admin: undefined });
    const { admin } = await sharedRestate();
    const counted = new CountedDrive();
    const right = await engine.worker(counted.drive, { admin });
    await right.wake("t");
    await until("the drive", () => counted.drives === 1);
    await right.drain();
    const stranger = "publickeyv1_2G8dCQhArfvGpzPw5Vx2ALciR4xCLHfS5YaT93XjNxX9";
    await engine.worker(counted.drive, { identity: stranger });
    await engine.placement().wake("t");
    await pause(2_000);
    assert.equal(counted.drives, 1);
  });

  test("without a key a worker listens on the loopback interface only", async () => {
    await using engine = await TestEngine.make({ identity: undefined });
    await engine.worker(() => "done");
    const found = await fetch(`http://127.0.0.1:${engine.port}/health`);
    assert.equal(found.status, 200);
    await assert.rejects(fetch(`http://127.0.0.2:${engine.port}/health`));
  });
});
