import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { test } from "node:test";
import { Client } from "pg";
import { cancelQuery } from "../src/query-cancel.ts";

test("a query of a connection without a key is not cancelled: some poolers send none", async () => {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const without = new Client({ host: "127.0.0.1", port });
  const client = Object.assign(new Client({ host: "127.0.0.1", port }), { processID: 7, secretKey: 8 });
  cancelQuery(without);
  cancelQuery(client);
  const [socket] = await once(server, "connection");
  const [request] = await once(socket, "data");
  assert.deepEqual([request.readInt32BE(8), request.readInt32BE(12)], [7, 8]);
  server.close();
  socket.destroy();
  await once(server, "close");
});
