import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, test } from "node:test";
import { Place } from "../cli.ts";
import { holding, release } from "../held-sleep.ts";
import { Served, StreamText } from "./served.ts";

/** `fetch` sets the host itself. */
const statusFor = (url: string, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    sent.on("error", reject);
    sent.end();
  });

describe("cinch serve", { concurrency: 3 }, () => {
  test("serves the threads of the folder, by a token that is printed in the fragment of the address alone", async () => {
    await using place = new Place();
    const key = "sk-ant-of-a-provider";
    const served = await Served.start(place, { env: { ANTHROPIC_API_KEY: key } });
    assert.equal((await served.as("").get("/v1/threads")).status, 401);
    const about = await (await served.get("/v1")).text();
    assert.match(about, /"models":\["offline","anthropic\//);
    assert.ok(!about.includes(key));
    const id = await served.thread();
    await served.say(id, "what is 3*7?");
    assert.equal((await served.get(`/v1/threads/${id}/settled`)).status, 200);
    assert.match(await (await served.get(`/v1/threads/${id}/listMessages`)).text(), /3\*7 = 21/);
    const page = await served.as("").get("/");
    assert.deepEqual([page.status, page.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
    assert.match(await page.text(), /<title>Cinch<\/title>/);
    served.running.child.kill("SIGTERM");
    const { code, stdout, stderr } = await served.running.finished;
    assert.equal(code, 0);
    const [, token = ""] = /#token=(\S+)\n$/.exec(stdout)!;
    assert.match(token, /^cinch_[\w-]{43}$/);
    assert.ok(!stderr.includes(token) && !stderr.includes(key));
    const lines = stderr.split("\n").filter((line) => line.startsWith("{"));
    const routes = lines.map((line) => (JSON.parse(line) as { route: string }).route);
    assert.ok(routes.includes("/v1/threads/{threadId}/post"), routes.join(" "));
    const { stdout: listed } = await place.run(["threads", "list"]);
    assert.match(listed, new RegExp(id));
  });

  test("speaks with a page that uses useChat, and with a client of AG-UI", async () => {
    await using place = new Place();
    const served = await Served.start(place);
    const chat = { id: "chat", messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "what is 3*7?" }] }] };
    assert.match(await (await served.post("/v1/chat?v=7", chat)).text(), /"type":"finish","finishReason":"stop"/);
    const run = { threadId: "run", runId: "r", messages: [{ id: "m", role: "user", content: "what is 3*7?" }] };
    assert.match(await (await served.post("/v1/agui", run)).text(), /"type":"RUN_FINISHED".*"success"/);
    assert.equal((await served.as("").post("/v1/chat", chat)).status, 401);
  });

  test("refuses to be reached from other machines without a token, and says what to do", async () => {
    await using place = new Place();
    const { code, stderr } = await place.run(["serve", "--host", "0.0.0.0", "--port", "0"]);
    assert.equal(code, 2);
    assert.match(stderr, /0\.0\.0\.0 can be reached from other machines.*cinch token add NAME --may/s);
    assert.ok(!existsSync(join(place.folder, ".cinch")), "Nothing is written.");
    const short = await place.run(["serve", "--token", "short", "--port", "0"]);
    assert.deepEqual([short.code, /at least 16/.test(short.stderr)], [2, true]);
  });

  test("with a token it listens where it is told, does not print the token, and knows its own names only", async () => {
    await using place = new Place();
    const token = "a-token-of-my-own";
    const args = ["--host", "0.0.0.0", "--port", "0", "--allow-host", "cinch.example.com"];
    const served = await Served.start(place, { args, env: { CINCH_TOKEN: token }, token });
    const { port } = new URL(served.url);
    const url = `http://127.0.0.1:${port}/v1/threads`;
    const authorization = `Bearer ${token}`;
    assert.equal(await statusFor(url, { authorization }), 200);
    assert.equal(await statusFor(url, { authorization, host: "cinch.example.com" }), 200);
    assert.equal(await statusFor(url, { authorization, host: "evil.example" }), 403);
    served.running.child.kill("SIGINT");
    const { code, stdout, stderr } = await served.running.finished;
    assert.equal(code, 0);
    assert.doesNotMatch(stdout + stderr, new RegExp(token));
    assert.match(stderr, /not encrypted/);
  });

  test("with --read-only no token may do more than read", async () => {
    await using place = new Place();
    const ann = (await place.run(["token", "add", "ann", "--may", "read,talk"])).stdout.trim();
    const env = { CINCH_TOKEN: "a-token-of-my-own" };
    const args = ["--port", "0", "--read-only"];
    const own = await Served.start(place, { args, env, token: env.CINCH_TOKEN });
    for (const served of [own, own.as(ann)]) {
      assert.equal((await served.get("/v1/threads")).status, 200);
      assert.equal((await served.post("/v1/threads")).status, 403);
    }
  });

  test("the first signal waits for the tool that runs, and ends the streams; nothing is lost or done twice", async () => {
    await using place = new Place();
    const served = await Served.start(place, { env: holding({ ms: 700 }) });
    const id = await served.thread();
    const stream = new StreamText(await served.get(`/v1/threads/${id}/events`));
    await served.say(id, "wait 0.7 seconds");
    await stream.until(/"tool_start"/);
    served.running.child.kill("SIGTERM");
    await served.running.prints(/closing/);
    release(served.running);
    await stream.ended;
    assert.match(stream.text, /retry: 1000\n\n$/);
    const { code, stderr } = await served.running.finished;
    assert.equal(code, 0);
    assert.match(stderr, /closing/);
    const waits = () => place.ledgerEntries().map(({ what, tool }) => `${tool} ${what}`);
    assert.deepEqual(waits(), ["wait begin", "wait end"]);
    const next = await place.run(["run", "--continue"]);
    assert.match(next.stdout, /I waited for 0\.7 s\./);
    assert.deepEqual(waits(), ["wait begin", "wait end"]);
  });

  test("a server that was killed in the middle of a turn continues it when it is started again, with no client there", async () => {
    await using place = new Place();
    const first = await Served.start(place, { env: holding({ ms: 700 }) });
    const id = await first.thread();
    const stream = new StreamText(await first.get(`/v1/threads/${id}/events`));
    await first.say(id, "wait 0.7 seconds");
    await stream.until(/"tool_start"/);
    first.running.child.kill("SIGKILL");
    await first.running.finished;
    const second = await Served.start(place);
    // A list opens no thread.
    const isActive = async () => {
      const threads = (await (await second.get("/v1/threads")).json()) as { id: string; active: boolean }[];
      return threads.find((thread) => thread.id === id)!.active;
    };
    while (await isActive()) await delay(50);
    const events = await (await second.get(`/v1/threads/${id}/listEvents`)).text();
    assert.match(events, /"takeover":true/);
  });

  test("the second signal ends it at once", async () => {
    await using place = new Place();
    const served = await Served.start(place);
    const id = await served.thread();
    const stream = new StreamText(await served.get(`/v1/threads/${id}/events`));
    await served.say(id, "wait 300 seconds");
    await stream.until(/"tool_start"/);
    served.running.child.kill("SIGINT");
    await served.running.prints(/closing/);
    // Two within 200 ms count as one: npm passes a Ctrl-C on.
    await delay(300);
    served.running.child.kill("SIGTERM");
    const { code } = await served.running.finished;
    assert.equal(code, 143);
    await stream.ended.catch(() => undefined);
  });

  test("a port that is taken is named, and without --port another one is used", async () => {
    await using place = new Place();
    await using other = new Place();
    const first = await Served.start(place, { args: [] });
    const second = await Served.start(other, { args: [] });
    assert.notEqual(first.url, second.url);
    const { port } = new URL(first.url);
    const { code, stderr } = await place.run(["serve", "--port", port]);
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`port ${port}: another program listens there\\. Give another --port`));
  });

  test("--open shows the address with its token in the browser, and does without one", async () => {
    await using place = new Place();
    const bin = join(place.folder, "bin");
    const seen = join(place.folder, "seen");
    mkdirSync(bin);
    writeFileSync(
      join(bin, "xdg-open"),
      `#!/bin/sh\nprintf '%s' "$1" > "${seen}.tmp" && /bin/mv "${seen}.tmp" "${seen}"\n`,
    );
    chmodSync(join(bin, "xdg-open"), 0o755);
    const served = await Served.start(place, { args: ["--port", "0", "--open"], env: { PATH: bin } });
    while (!existsSync(seen)) await delay(10);
    assert.equal(readFileSync(seen, "utf8"), served.running.stdout.trim());
    const without = await Served.start(place, { args: ["--port", "0", "--open"], env: { PATH: place.home } });
    await without.running.prints(/open the address yourself/);
    assert.equal((await without.get("/v1/threads")).status, 200);
  });
});
