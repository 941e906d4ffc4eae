import assert from "node:assert/strict";
import { createServer, type AddressInfo } from "node:net";
import { createServer as createHttpServer } from "node:http";
import { once } from "node:events";
import { describe, test } from "node:test";
import { CountedDrive, TestEngine } from "./engine.ts";
import { MortalRestate } from "./mortal-restate.ts";
import { until } from "../../postgres/test/until.ts";

describe("when Restate fails", { concurrency: true }, () => {
  test("down when a worker starts, it gets the worker when it is up, and a wiped one with the next wake", async () => {
    await using restate = new MortalRestate();
    const { ingress, admin, identity } = await restate.start();
    await restate.kill();
    await using engine = await TestEngine.make({ ingress, admin, identity });
    const counted = new CountedDrive();
    const worker = await engine.worker(counted.drive);
    await assert.rejects(worker.wake("t"));
    await restate.start();
    await until("the registration", () =>
      fetch(`${admin}/services`).then(async (found) => (await found.text()).includes("cinch-")),
    );
    await worker.wake("t");
    await until("the drive", () => counted.drives > 0);
    await restate.kill();
    restate.wipe();
    await restate.start();
    const before = counted.drives;
    await engine.placement().wake("t");
    await until("the drive of one that was wiped", () => counted.drives > before);
  });

  test("silent, its wakes are rejected after a few seconds", async () => {
    const silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const ingress = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    await using engine = await TestEngine.make({ ingress, admin: ingress });
    const started = performance.now();
    const wakes = await Promise.allSettled(Array.from({ length: 100 }, (_, at) => engine.placement().wake(`t${at}`)));
    assert.ok(wakes.every(({ status }) => status === "rejected"));
    assert.ok(performance.now() - started < 30_000);
    silent.close();
  });

  test("closing idle connections, it loses no wake", async () => {
    const answered = new WeakSet<object>();
    let taken = 0;
    const hasty = createHttpServer((request, response) => {
      // As if the end of the connection had been on its way when the request came.
      if (answered.has(request.socket)) return void request.socket.destroy();
      answered.add(request.socket);
      taken += 1;
      response.writeHead(202).end("{}");
    }).listen(0, "127.0.0.1");
    await once(hasty, "listening");
    const ingress = `http://127.0.0.1:${(hasty.address() as AddressInfo).port}`;
    await using engine = await TestEngine.make({ ingress, admin: undefined });
    const front = engine.placement();
    for (let nth = 0; nth < 5; nth++) await front.wake("t");
    assert.equal(taken, 5);
    hasty.close();
  });

  test("of another version, it is asked again and again, and its wakes are rejected", async () => {
    let asked = 0;
    const strange = createHttpServer((request, response) => {
      if (request.url === "/deployments") asked += 1;
      response.writeHead(request.url === "/deployments" ? 422 : 404).end('{"message":"no"}');
    }).listen(0, "127.0.0.1");
    await once(strange, "listening");
    const ingress = `http://127.0.0.1:${(strange.address() as AddressInfo).port}`;
    await using engine = await TestEngine.make({ ingress, admin: ingress });
    const worker = await engine.worker(() => "done");
    await assert.rejects(worker.wake("t"), /Restate took no wake: it has no service "cinch-127\.0\.0\.1-\d+"/);
    await until("the third question", () => asked >= 3);
    strange.closeAllConnections();
    strange.close();
  });
});
