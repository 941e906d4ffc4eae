import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { browserTests } from "./browser.ts";

const inBrowser = browserTests({ loopbackNames: ["evil.example"] });

async function site(text: string) {
  const server = createServer((_, response) => response.setHeader("content-type", "text/html").end(text));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

inBrowser("the browser of the tests keeps pages apart, and foreign names lead to this machine", async (context) => {
  await using foreign = await site("of evil.example");
  await using own = await site("of loopback");
  const page = await context.newPage();
  await page.goto(`http://evil.example:${foreign.port}/`);
  const read = (url: string) =>
    page.evaluate(async (address) => (await fetch(address).catch(() => null))?.text() ?? "unreadable", url);
  assert.equal(await read(`http://evil.example:${foreign.port}/`), "of evil.example");
  assert.equal(await read(`http://127.0.0.1:${own.port}/`), "unreadable");
  assert.equal(await read(`http://evil.example:${own.port}/`), "unreadable");
});
