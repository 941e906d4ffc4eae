import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import { Place, threadIn, type Finished } from "../cli.ts";

const mock = new LLMock({ port: 0 });
/** For the test of plans: what it answers after a change of mode would answer the others too. */
const planner = new LLMock({ port: 0 });
before(() => Promise.all([mock.start(), planner.start()]));
after(() => Promise.all([mock.stop(), planner.stop()]));

/** Runs `cinch` with a model that a mock serves. */
const cinchWith = (server: LLMock, place: Place, args: readonly string[]): Promise<Finished> =>
  place.run(args, { env: { CINCH_MODEL: "openai-compatible/m", CINCH_BASE_URL: server.url } });
const cinch = (place: Place, ...args: string[]): Promise<Finished> => cinchWith(mock, place, args);

interface Listed {
  id: string;
  kind: string;
  rootThreadId: string;
}

const pending = async (place: Place): Promise<Listed[]> =>
  JSON.parse((await cinch(place, "pending", "--json")).stdout) as Listed[];

/** The model calls a tool once, and says its result. */
function calls(userMessage: string, name: string, args: Record<string, unknown>): void {
  mock.on({ userMessage, hasToolResult: true }, { content: `done: ${userMessage}` });
  mock.on({ userMessage }, { toolCalls: [{ name, arguments: JSON.stringify(args) }] });
}

describe("what waits for a person", { concurrency: 3 }, () => {
  test("an approval ends the run with 3, is listed, and is given by cinch answer, which drives the turn on", async () => {
    calls("touch it", "execute", { command: "touch made.txt" });
    mock.onMessage("yes", { content: "Yes." });
    await using place = new Place();
    const asked = await cinch(place, "run", "touch it");
    assert.deepEqual([asked.code, asked.stdout], [3, ""], asked.stderr);
    const [, id = ""] = /^(\w{8}) {2}execute asks whether it may run:\n {4}touch made\.txt$/m.exec(asked.stderr) ?? [];
    assert.match(asked.stderr, new RegExp(`^  answer: cinch answer ${id} yes `, "m"));
    assert.ok(!existsSync(join(place.folder, "made.txt")));
    const [waiting, ...others] = await pending(place);
    assert.deepEqual(
      [waiting?.id, waiting?.kind, waiting?.rootThreadId, others],
      [id, "approval", threadIn(asked), []],
    );
    const text = await cinch(place, "run", "--continue", "yes");
    assert.equal(text.code, 3);
    assert.match(
      text.stderr,
      /a prompt answers a question, and nothing else: it is queued\n1 queued and not answered yet/,
    );
    const answered = await cinch(place, "answer", id.slice(0, 4), "yes");
    assert.deepEqual([answered.code, answered.stdout], [0, "done: touch it\nYes.\n"], answered.stderr);
    assert.ok(existsSync(join(place.folder, "made.txt")));
    const late = await cinch(place, "answer", id, "yes");
    assert.deepEqual(
      [late.code, late.stderr.split("\n")[0]],
      [2, `cinch: Nothing waits under "${id}": cinch pending lists what waits.`],
    );
  });

  test("a declined call ends the turn, and one declined with a message does not", async () => {
    calls("remove it", "execute", { command: "rm x" });
    await using place = new Place();
    const first = await cinch(place, "run", "remove it");
    const declined = await cinch(place, "answer", threadIn(first), "no");
    assert.deepEqual([declined.code, declined.stdout], [1, ""], declined.stderr);
    assert.match(declined.stderr, /a call was declined/);
    const second = await cinch(place, "run", "remove it");
    const told = await cinch(place, "answer", threadIn(second), "no", "--message", "use git");
    assert.deepEqual([told.code, told.stdout], [0, "done: remove it\n"], told.stderr);
  });

  test("a prompt for a thread that asks one question is its answer", async () => {
    mock.on({ userMessage: "paint", hasToolResult: true, toolResultContains: "blue" }, { content: "It is blue." });
    mock.on({ userMessage: "paint" }, { toolCalls: [{ name: "ask_user", arguments: '{"question":"Which colour?"}' }] });
    await using place = new Place();
    const asked = await cinch(place, "run", "paint");
    assert.equal(asked.code, 3);
    assert.match(asked.stderr, /^\w{8} {2}ask_user asks:\n {4}Which colour\?\n {2}answer: cinch answer \w{8} "…"$/m);
    const answered = await cinch(place, "run", "--continue", "blue");
    assert.deepEqual([answered.code, answered.stdout], [0, "It is blue.\n"], answered.stderr);
  });

  test("in mode plan, the plan that is submitted is approved with yes, and the turn goes on in mode build", async () => {
    const plan = JSON.stringify({ plan: "1. add\n2. test" });
    planner.on({ userMessage: "plan it" }, { toolCalls: [{ name: "submit_plan", arguments: plan }] });
    planner.onMessage(/You are in mode "build" now/, { content: "Built." });
    await using place = new Place();
    const asked = await cinchWith(planner, place, ["run", "--mode", "plan", "plan it"]);
    assert.match(asked.stderr, /asks whether this plan is right:\n {4}1\. add\n {4}2\. test\n/);
    const answered = await cinchWith(planner, place, ["answer", threadIn(asked), "yes", "--json"]);
    assert.equal(answered.code, 0, answered.stdout);
    assert.match(answered.stdout, /"type":"mode_changed","v":1,.*"modeId":"build"/);
  });

  test("what --allow names runs unasked, what --deny names is refused, and --yolo asks nothing", async () => {
    calls("list it", "execute", { command: "touch made.txt" });
    await using place = new Place();
    const denied = await cinch(place, "run", "--yolo", "--deny", "touch *", "list it");
    assert.equal(denied.code, 0, denied.stderr);
    assert.match(denied.stderr, /✗ execute/);
    assert.ok(!existsSync(join(place.folder, "made.txt")));
    const allowed = await cinch(place, "run", "--allow", "touch *", "list it");
    assert.equal(allowed.code, 0, allowed.stderr);
    assert.ok(existsSync(join(place.folder, "made.txt")));
  });

  test("a turn that costs more than --budget ends with 4", async () => {
    const usage = { prompt_tokens: 50_000, completion_tokens: 1_000, total_tokens: 51_000 };
    mock.on({ userMessage: "spend it" }, { toolCalls: [{ name: "ls", arguments: '{"path":"/"}' }], usage });
    await using place = new Place();
    const env = { OPENAI_API_KEY: "a-key", OPENAI_BASE_URL: mock.url };
    const { code, stderr } = await place.run(["run", "--model", "openai/gpt-5.4", "--budget", "0.01", "spend it"], {
      env,
    });
    assert.equal(code, 4, stderr);
    assert.match(stderr, /the budget is used up/);
  });

  test("what a subagent asks ends the run too, and is answered in the same ways", async () => {
    const delegated = JSON.stringify({ agent: "general-purpose", prompt: "child: choose and touch" });
    mock.on({ userMessage: "delegate", hasToolResult: true }, { content: "Delegated." });
    mock.on({ userMessage: "delegate" }, { toolCalls: [{ name: "task", arguments: delegated }] });
    mock.on({ userMessage: "child:", hasToolResult: true, toolResultContains: "Exit code" }, { content: "Touched." });
    mock.on(
      { userMessage: "child:", hasToolResult: true, toolResultContains: "here" },
      { toolCalls: [{ name: "execute", arguments: '{"command":"touch made.txt"}' }] },
    );
    mock.on({ userMessage: "child:" }, { toolCalls: [{ name: "ask_user", arguments: '{"question":"Where?"}' }] });
    await using place = new Place();
    const asked = await cinch(place, "run", "delegate");
    assert.deepEqual([asked.code, asked.stdout], [3, ""], asked.stderr);
    assert.match(asked.stderr, /^\w{8} {2}general-purpose › ask_user asks:\n {4}Where\?$/m);
    const answered = await cinch(place, "run", "--continue", "here");
    assert.deepEqual([answered.code, answered.stdout], [3, ""], answered.stderr);
    assert.match(answered.stderr, /^\w{8} {2}general-purpose › execute asks whether it may run:$/m);
    const approved = await cinch(place, "answer", threadIn(asked), "yes");
    assert.deepEqual([approved.code, approved.stdout], [0, "Delegated.\n"], approved.stderr);
    assert.match(approved.stderr, /^→ general-purpose › execute \{"command":"touch made\.txt"\}$/m);
    assert.ok(existsSync(join(place.folder, "made.txt")));
  });

  test("abort ends a turn that waits, one that another process drives, and one whose process died", async () => {
    calls("stop it", "execute", { command: "ls" });
    await using place = new Place();
    const asked = await cinch(place, "run", "stop it");
    const aborted = await cinch(place, "abort", threadIn(asked));
    assert.deepEqual([aborted.code, aborted.stderr], [0, `aborted ${threadIn(asked)}\n`]);
    assert.deepEqual(await pending(place), []);
    const driver = place.start(["run", "wait 30 seconds"]);
    await driver.prints(/→ wait/);
    const [newest] = JSON.parse((await place.run(["threads", "--json"])).stdout) as { id: string; status: string }[];
    assert.equal(newest?.status, "running");
    await cinch(place, "abort", newest.id);
    assert.equal((await driver.finished).code, 130);
    const again = await cinch(place, "abort", newest.id);
    assert.deepEqual([again.code, again.stderr], [0, `nothing to abort in ${newest.id}\n`]);
    const killed = place.start(["run", "wait 30 seconds"]);
    await killed.prints(/→ wait/);
    killed.child.kill("SIGKILL");
    await killed.finished;
    const [left] = JSON.parse((await place.run(["threads", "--json"])).stdout) as { id: string; status: string }[];
    assert.equal(left?.status, "unfinished");
    const ended = await cinch(place, "abort", left.id);
    assert.deepEqual([ended.code, ended.stderr], [0, `aborted ${left.id}\n`]);
  });

  test("AGENTS.md of a folder that is not trusted is not read, and --trust reads it for one run", async () => {
    mock.onMessage("who are you", { content: "me" });
    await using place = new Place();
    writeFileSync(join(place.folder, "AGENTS.md"), "Always speak like a pirate.");
    // The other tests use the same server at the same time.
    const sent = () =>
      mock
        .getRequests()
        .map(({ body }) => JSON.stringify(body))
        .findLast((body) => body.includes("who are you")) ?? "";
    const untrusted = await cinch(place, "run", "who are you");
    assert.match(untrusted.stderr, /not trusted, so these are not read: AGENTS\.md \(.*--trust\)/);
    assert.doesNotMatch(sent(), /pirate/);
    const trusted = await cinch(place, "run", "--trust", "who are you");
    assert.doesNotMatch(trusted.stderr, /trusted/);
    assert.match(sent(), /pirate/);
  });
});
