import assert from "node:assert/strict";
import { test } from "node:test";
import { CinchError as CoreError } from "@cinch/core";
import { CinchError, connect } from "@cinch/client";
import { hang, say, script, type Step } from "@cinch/testkit";
import { authenticate, people, serving } from "../../server/test/serving.ts";
import { faulty } from "./faults.ts";

const code =
  (expected: string, says = /./) =>
  (error: unknown) =>
    error instanceof CoreError && error.code === expected && says.test(error.message);

test("a server of another protocol is refused with a sentence, and so is what is no Cinch server", async () => {
  const answering = (headers: Record<string, string>) =>
    connect({ url: "http://cinch.example/", fetch: async () => Response.json({}, { headers }) });
  await assert.rejects(
    answering({ "cinch-protocol": "2" }).createSession(),
    code("INVALID_CONFIG", /speaks protocol 2, and this client 1/),
  );
  await assert.rejects(
    answering({}).createSession(),
    code("INVALID_CONFIG", /is no Cinch server\. Check the address, and the prefix/),
  );
});

test("a server that never answered is UNREACHABLE, and not asked for ever", async () => {
  const client = connect({ url: "http://127.0.0.1:9" });
  await assert.rejects(client.createSession(), code("UNREACHABLE", /No Cinch server answers at http:\/\/127.0.0.1:9/));
});

test("a token that is a function is asked again when the server refuses the token", async () => {
  const holders = [...people];
  await using at = await serving({ model: script(say("hi")), authenticate: (request) => authenticate(request) });
  let asked = 0;
  const token = () => (++asked === 1 ? "ann-token" : "cat-token");
  const refused = faulty(({ init, pass }) => {
    const isOld = JSON.stringify(init.headers).includes("ann-token") && asked > 0 && holders.length === 0;
    const headers = { "cinch-protocol": "1" };
    const error = { code: "UNAUTHENTICATED", message: "old" };
    return isOld ? Promise.resolve(Response.json({ error }, { status: 401, headers })) : pass();
  });
  const client = connect({ url: at.url, token, fetch: refused.fetch });
  assert.equal((await client.init()).by, "ann");
  holders.length = 0;
  const { resourceId } = await client.createThread();
  assert.deepEqual([resourceId, asked], ["cats", 2]);
  await client.close();
});

test("a function whose first token is old already is asked again for the same request", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate });
  const tokens = ["old-token", "ann-token"];
  const client = connect({ url: at.url, token: () => tokens.shift()! });
  assert.equal((await client.init()).by, "ann");
  await client.close();
});

test("a token that is a text is sent once, and a function that returns the same old token is asked twice a request", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate });
  const { fetch, seen } = faulty(({ pass }) => pass());
  const fixed = connect({ url: at.url, token: "old-token", fetch });
  for (let n = 0; n < 2; n++) await assert.rejects(fixed.init(), code("UNAUTHENTICATED"));
  assert.equal(seen.length, 2);
  let asked = 0;
  const asking = connect({ url: at.url, token: () => `old-token-${++asked}` });
  for (let n = 0; n < 2; n++) await assert.rejects(asking.init(), code("UNAUTHENTICATED"));
  assert.equal(asked, 4);
  await Promise.all([fixed.close(), asking.close()]);
});

test("a function for tokens that fails first says what failed, and later is asked again until it has a token", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate });
  let fails = true;
  let asked = 0;
  const token = () => {
    asked++;
    if (fails) throw new Error("the keychain is locked");
    return "ann-token";
  };
  const client = connect({ url: at.url, token });
  await assert.rejects(client.init(), code("UNREACHABLE", /`token`.*the keychain is locked/));
  fails = false;
  assert.equal((await client.init()).by, "ann");
  await client.close();
  assert.equal(asked, 2);
});

test("close rejects what waits for a token, or for a fetch that does not obey its signal", async () => {
  const never = () => new Promise<never>(() => undefined);
  for (const options of [{ token: never }, { fetch: never }]) {
    const client = connect({ url: "http://cinch.example", ...options });
    const waiting = client.init();
    await client.close();
    await assert.rejects(waiting, code("CLOSED"));
  }
});

test("a token that the server does not know is UNAUTHENTICATED", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate });
  const client = connect({ url: at.url, token: "wrong" });
  await assert.rejects(client.createSession(), code("UNAUTHENTICATED"));
});

test("errors have the class and the codes that a session in the process has", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate });
  const bob = connect({ url: at.url, token: "bob-token" });
  await assert.rejects(bob.createThread(), code("PERMISSION_DENIED"));
  await assert.rejects(bob.createSession({ threadId: "none" }), code("THREAD_NOT_FOUND"));
  const ann = connect({ url: at.url, token: "ann-token" });
  await assert.rejects(ann.sendMessage({ content: " " }), code("INVALID_INPUT"));
  await assert.rejects(ann.sendMessage({ content: "x", fils: [] } as never), code("INVALID_INPUT", /"fils"/));
  await assert.rejects(ann.removeInput({ inputId: "none" }), code("NOT_PENDING"));
  assert.equal(CinchError, CoreError);
  await Promise.all([ann.close(), bob.close()]);
});

test("close rejects what is pending with CLOSED, ends readers, and the turn continues on the server", async () => {
  await using at = await serving({ model: script(hang("…")) });
  const client = connect({ url: at.url });
  const session = await client.createSession();
  const turn = session.sendMessage({ content: "go" });
  await new Promise<void>((resolve) => session.subscribe(({ type }) => type === "message_update" && resolve()));
  const threadId = session.getCurrentThreadId()!;
  const reader = session.events();
  const late = client.settled();
  await client.close();
  await assert.rejects(turn, code("CLOSED"));
  await assert.rejects(late, code("CLOSED"));
  await assert.rejects(session.steer({ content: "more" }), code("CLOSED"));
  for await (const event of reader) assert.ok(event);
  const there = await at.harness.createSession({ threadId });
  assert.equal(there.getDisplayState().status, "running");
  await there.abort();
});

test("the session knows who it acts for, and who else is at the thread", async () => {
  await using at = await serving({ model: script(say("hi")), authenticate });
  const ann = await connect({ url: at.url, token: "ann-token" }).createSession();
  const { id: threadId } = await ann.createThread();
  const client = connect({ url: at.url, token: "bob-token" });
  const bob = await client.createSession({ threadId });
  assert.deepEqual([ann.by, ann.resourceId, bob.by, bob.resourceId], ["ann", "team", "bob", "team"]);
  while (ann.people.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(ann.people, ["ann", "bob"]);
  await ann.close();
  await client.close();
});

test("a caller that waits for a result can stop: it gets the reason of its signal, and the turn continues", async () => {
  const held = Promise.withResolvers<void>();
  const slow: Step = async function* (options) {
    await held.promise;
    yield* say("late")(options);
  };
  await using at = await serving({ model: script(slow) });
  const client = connect({ url: at.url });
  const session = await client.createSession();
  const { inputId } = await session.post({ content: "go", delivery: "send" });
  const over = new AbortController();
  const waiting = session.resultOf({ inputId, signal: over.signal });
  await assert.rejects(session.resultOf({ inputId, signal: AbortSignal.abort("too late") }), (reason) => {
    return reason === "too late";
  });
  over.abort(new Error("enough"));
  await assert.rejects(waiting, /enough/);
  held.resolve();
  assert.equal((await session.resultOf({ inputId })).reason, "complete");
  await client.close();
});
