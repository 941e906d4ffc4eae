import assert from "node:assert/strict";
import { test } from "node:test";
import { script } from "@cinch/testkit";
import { bearerTokens, ROLES, tokenHash } from "@cinch/server";
import { serving } from "../serving.ts";

const TOKEN = "a-token-that-is-right";
const holders = [{ sha256: tokenHash(TOKEN), may: ROLES }];

test("an address that tries many tokens is slowed down, also for a right one that it has not used before", async () => {
  let asked = 0;
  const known = bearerTokens(() => holders);
  const authenticate = (request: Request) => {
    asked++;
    return known(request);
  };
  await using at = await serving({ model: script(), authenticate });
  const status = async (token?: string) =>
    (await fetch(`${at.url}/v1/threads`, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } }))
      .status;
  const tried: number[] = [];
  while (tried.at(-1) !== 429 && tried.length < 500) tried.push(await status(`wrong-${tried.length}`));
  assert.equal(tried.at(-1), 429);
  assert.ok(tried.length > 100, `it was refused after ${tried.length}`);
  const before = asked;
  const response = await fetch(`${at.url}/v1/threads`, { headers: { authorization: "Bearer wrong again" } });
  assert.ok(response.status === 429 || asked > before);
  assert.equal(await status(), 401, "a request without a token tries nothing");
});

test("people whose token was right before are not slowed down by others at their address", async () => {
  await using at = await serving({ model: script(), authenticate: bearerTokens(() => holders) });
  const status = async (token: string) =>
    (await fetch(`${at.url}/v1/threads`, { headers: { authorization: `Bearer ${token}` } })).status;
  assert.equal(await status(TOKEN), 200);
  for (let last = 0, tries = 0; last !== 429 && tries < 500; tries++) last = await status(`wrong-${tries}`);
  assert.equal(await status(TOKEN), 200);
});

test("a list can't be polled, and says so", async () => {
  await using at = await serving({ model: script() });
  const response = await fetch(`${at.url}/v1/events`, { headers: { accept: "application/json" } });
  assert.equal(response.status, 406);
  assert.match(await response.text(), /"NOT_ACCEPTABLE".*text\/event-stream/);
});
