import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { LastingConnection } from "../../src/placement/lasting-connection.ts";
import { Proxy } from "../proxy.ts";
import { serverUrl } from "../server.ts";

test("a query waits for a connection that is lost, however often the server refuses another one", async () => {
  await using proxy = await Proxy.to(await serverUrl());
  const connection = new LastingConnection(proxy.url, { channel: "lasting", noticed: () => undefined });
  await connection.open();
  try {
    proxy.down();
    const answered = connection.query("SELECT 1 AS one");
    await pause(1_000);
    proxy.up();
    assert.deepEqual((await answered).rows, [{ one: 1 }]);
  } finally {
    await connection.close();
  }
});
