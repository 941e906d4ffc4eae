import assert from "node:assert/strict";
import type { EventQuery, Store } from "@cinch/core";
import {
  type StoreCheck,
  bytes,
  clone,
  code,
  created,
  event,
  file,
  fork,
  input,
  make,
  rewind,
  rewound,
  says,
  write,
} from "./samples.ts";

const result = (content: unknown) =>
  event("tool_end", { toolCallId: "c", toolName: "t", result: { content }, isError: false, durationMs: 1 });
const message = (role: string, ...content: unknown[]) => event("message_end", { message: { id: "m", role, content } });
const text = (of: string) => ({ type: "text", text: of });
const calls = (args: unknown) => ({ type: "tool-call", toolCallId: "c", toolName: "t", input: args });
/** By its name: a store need not know the event. */
const offloaded = (blob: string) =>
  event("context_offloaded" as "tool_end", { toolCallId: "c", toolName: "t", path: "/x", blob, chars: 1 });

/** As `thread:seq`. */
const found = async (store: Store, query: EventQuery) =>
  (await store.findEvents(query)).map(({ threadId, seq }) => `${threadId}:${seq}`);
/** The `seq`s of the events of thread "t" that are found. */
const inT = async (store: Store, query: string, rest: { limit?: number; before?: number } = {}) =>
  (await store.findEvents({ threadId: "t", query, ...rest })).map(({ seq }) => seq);

export function findingEvents(check: StoreCheck): void {
  check("events are found by the text of messages, of the arguments of calls, and of results", async (store) => {
    await make(
      store,
      "t",
      message("user", text("A zebra, please")),
      message("assistant", text("Of course"), calls({ path: "zebra.txt", more: [{ lines: ["okapi"] }, 7] })),
      result("zebra: 3 stripes"),
      result([text("another zebra"), file("a blob")]),
      message("assistant", calls("a bare zebra")),
      message("assistant", { type: "tool-result", toolCallId: "p", toolName: "search", result: [{ title: "Zebras" }] }),
    );
    assert.deepEqual(await inT(store, "zebra"), [7, 6, 5, 4, 3, 2]);
    assert.deepEqual([await inT(store, "okapi"), await inT(store, "course OKAPI")], [[3], [3]]);
  });

  check("reasoning, notes of the harness, blobs of files, keys, and other events are not searched", async (store) => {
    const blobs = [{ hash: "zebra", bytes: bytes("zebra") }];
    await store.append(
      "t",
      [
        created({ title: "zebra" }),
        input("zebra"),
        message("assistant", { type: "reasoning", text: "zebra" }, file("zebra"), calls({ zebra: 1 })),
        message("note", text("zebra")),
        event("tool_start", { toolCallId: "c", toolName: "zebra", args: { a: "zebra" }, key: "t:1", effect: "pure" }),
        result([file("zebra")]),
      ],
      { afterSeq: 0, take: 0, release: true, blobs },
    );
    assert.deepEqual(await inT(store, "zebra"), []);
  });

  check("the text of an offloaded result or message is found in its blob", async (store, another) => {
    const blobs = [{ hash: "h", bytes: bytes(`${"start ".repeat(50_000)} Zebra é`) }];
    const events = [created(), result("start … end"), offloaded("h"), offloaded("no blob")];
    await store.append("t", events, { afterSeq: 0, take: 0, release: true, blobs });
    for (const one of [store, await another()]) {
      assert.deepEqual(await inT(one, "zebra E"), [3]);
      assert.deepEqual(await inT(one, "start"), [3, 2]);
    }
  });

  check("all words must be in one event, each as the beginning of a word", async (store) => {
    await make(store, "t", says("Striped zebras"), says("stripes"), message("user", text("zeb"), text("ras")));
    assert.deepEqual(await inT(store, "STRIPE"), [3, 2]);
    assert.deepEqual(await inT(store, "zebra, stripe!"), [2]);
    assert.deepEqual(await inT(store, "zeb"), [4, 2]);
    assert.deepEqual([await inT(store, "ebras"), await inT(store, "zebrass")], [[], []]);
  });

  check("case and accents are ignored in any script", async (store) => {
    const said = [
      "L'été",
      "Straße",
      "ὁ λόγος",
      "Ёлка",
      "İstanbul",
      "كِتَابٌ",
      "नमस्ते दुनिया",
      "在东京见面",
      "ひらがな",
      "ﬁne ＡＢＣ",
    ];
    await make(store, "t", ...said.map(says));
    const queries = ["ETE", "STRASSE", "ΛΟΓΟΣ", "елка", "istanbul", "كتاب", "दुनि", "东京", "ひら", "fine abc"];
    for (const [at, query] of queries.entries()) assert.deepEqual(await inT(store, query), [at + 2], query);
  });

  check("each character of a script without spaces is a word, also beside letters and digits", async (store) => {
    await make(store, "t", says("使用React框架，v2版"));
    for (const query of ["react", "框架", "架", "版", "v2", "React框架", "框架React"])
      assert.deepEqual(await inT(store, query), [2], query);
  });

  check("a long word is found by its first 40 characters", async (store) => {
    const hash = "0123456789abcdef".repeat(4);
    await make(store, "t", result(`sha256 ${hash}`), result("0123456789abcdee"));
    assert.deepEqual([await inT(store, hash), await inT(store, hash.slice(0, 50))], [[2], [2]]);
    assert.deepEqual(await inT(store, hash.slice(0, 15)), [3, 2]);
  });

  check("outputs are searched whole, up to four million characters, and longer ones at both ends", async (store) => {
    const filler = "lorem ipsum dolor ".repeat(60_000);
    const words = Array.from({ length: 20_000 }, (_, at) => `w${at}x`).join(" ");
    await make(store, "t", result(`${filler} zebra ${words} ${filler} okapi`), result(filler.repeat(5) + " giraffe"));
    assert.deepEqual(await inT(store, "zebra okapi w19999x w1x"), [2]);
    assert.deepEqual([await inT(store, "giraffe"), await inT(store, "lorem giraffe")], [[3], [3]]);
  });

  check("the newest events are found, in the thread of a running turn and by another store", async (store, another) => {
    const other = await another();
    await store.append("t", [created(), event("agent_start")], { afterSeq: 0, take: 0 });
    for (let seq = 3; seq < 12; seq++) {
      await store.append("t", [result(`zebra number${seq}`)], { afterSeq: seq - 1, epoch: 1 });
      assert.deepEqual(await inT(other, `number${seq} zebra`), [seq]);
      assert.deepEqual(await found(store, { resourceId: "me", query: "zebra", limit: 1 }), [`t:${seq}`]);
    }
  });

  check("the newest come first: 20 of them, or `limit`, before `before`", async (store) => {
    await make(store, "t", ...Array.from({ length: 30 }, () => says("zebra")));
    const seqs = Array.from({ length: 30 }, (_, at) => 31 - at);
    assert.deepEqual(await inT(store, "zebra"), seqs.slice(0, 20));
    assert.deepEqual(await inT(store, "zebra", { limit: 3 }), [31, 30, 29]);
    assert.deepEqual(await inT(store, "zebra", { limit: 3, before: 5 }), [4, 3, 2]);
    assert.deepEqual(await inT(store, "zebra", { before: 29, limit: 100 }), seqs.slice(3));
    assert.deepEqual(await inT(store, "zebra", { limit: 0 }), []);
    assert.deepEqual(await inT(store, "zebra", { before: 2 }), []);
  });

  check("a clone finds what it inherits, under its own id and up to its cut", async (store, another) => {
    const other = await another();
    await make(store, "p", says("zebra one"), says("zebra two"));
    await clone(store, "c", { parent: "p", seq: 2 });
    await write(store, "p", [says("zebra three")], { afterSeq: 3 });
    await write(store, "c", [says("zebra four")], { afterSeq: 3 });
    await clone(store, "d", { parent: "c", seq: 4 });
    for (const one of [store, other]) {
      assert.deepEqual(await found(one, { threadId: "c", query: "zebra" }), ["c:4", "c:2"]);
      assert.deepEqual(await found(one, { threadId: "d", query: "zebra" }), ["d:4", "d:2"]);
      assert.deepEqual(await found(one, { threadId: "p", query: "zebra" }), ["p:4", "p:3", "p:2"]);
    }
    await store.deleteThread("p");
    assert.deepEqual(await found(other, { threadId: "d", query: "zebra" }), ["d:4", "d:2"]);
  });

  check("what was rewound is not found, except in clones that were made before", async (store, another) => {
    const other = await another();
    await make(store, "t", says("zebra"), says("zebra"), says("zebra"));
    await clone(store, "c", { parent: "t", seq: 4 });
    assert.deepEqual(await inT(other, "zebra"), [4, 3, 2]);
    await rewind(store, "t", { afterSeq: 4, toSeq: 2 });
    await write(store, "t", [says("zebra")], { afterSeq: 5 });
    assert.deepEqual(
      [await inT(store, "zebra"), await inT(other, "zebra")],
      [
        [6, 2],
        [6, 2],
      ],
    );
    assert.deepEqual(await found(store, { threadId: "c", query: "zebra" }), ["c:4", "c:3", "c:2"]);
    await write(store, "t", [rewound(1), says("zebra")], { afterSeq: 6 });
    assert.deepEqual([await inT(store, "zebra"), await inT(other, "zebra")], [[8], [8]]);
  });

  check("of a resource, every event is found once, newest first over all threads", async (store, another) => {
    const other = await another();
    await make(store, "p", says("zebra"));
    await make(store, "q", says("zebra"));
    await fork(store, "child", { parent: "p", seq: 2 });
    await write(store, "child", [says("zebra")], { afterSeq: 3 });
    await clone(store, "clone", { parent: "q", seq: 2 });
    await write(store, "p", [says("zebra")], { afterSeq: 2 });
    await write(store, "yours", [created({ resourceId: "you" }), says("zebra")], { afterSeq: 0 });
    for (const one of [store, other]) {
      assert.deepEqual(await found(one, { resourceId: "me", query: "zebra" }), ["p:3", "child:4", "q:2", "p:2"]);
      assert.deepEqual(await found(one, { resourceId: "me", query: "zebra", limit: 2 }), ["p:3", "child:4"]);
      assert.deepEqual(await found(one, { resourceId: "you", query: "zebra" }), ["yours:2"]);
      assert.deepEqual(await found(one, { resourceId: "no one", query: "zebra" }), []);
    }
  });

  check("of a resource, the events of each thread stay in order when clocks differ", async (store) => {
    const at = (time: number) => ({ ...says("zebra"), at: time });
    await make(store, "p", at(100), at(300), at(200));
    await make(store, "q", at(250), at(150));
    const query = { resourceId: "me", query: "zebra" };
    assert.deepEqual(await found(store, query), ["p:4", "p:3", "q:3", "q:2", "p:2"]);
  });

  check("an event of a deleted or rewound thread is found in the oldest thread that inherits it", async (store) => {
    await make(store, "p", says("zebra"), says("okapi"), says("giraffe"));
    for (const id of ["first", "second"]) await clone(store, id, { parent: "p", seq: 3 });
    await rewind(store, "p", { afterSeq: 4, toSeq: 2 });
    const everywhere = async () => [
      await found(store, { resourceId: "me", query: "zebra" }),
      await found(store, { resourceId: "me", query: "okapi" }),
      await found(store, { resourceId: "me", query: "giraffe" }),
    ];
    assert.deepEqual(await everywhere(), [["p:2"], ["first:3"], []]);
    await store.deleteThread("p");
    assert.deepEqual(await everywhere(), [["first:2"], ["first:3"], []]);
    await store.deleteThread("first");
    assert.deepEqual(await everywhere(), [["second:2"], ["second:3"], []]);
  });

  check("deleted threads are not found", async (store, another) => {
    const other = await another();
    await make(store, "t", says("zebra"));
    await fork(store, "child", { parent: "t", seq: 2 });
    assert.deepEqual(await inT(other, "zebra"), [2]);
    await store.deleteThread("t");
    for (const one of [store, other]) {
      await assert.rejects(one.findEvents({ threadId: "t", query: "zebra" }), code("THREAD_NOT_FOUND"));
      await assert.rejects(one.findEvents({ threadId: "never", query: "zebra" }), code("THREAD_NOT_FOUND"));
      assert.deepEqual(await found(one, { resourceId: "me", query: "zebra" }), []);
    }
  });

  check("a query for events has no syntax, and no query fails", async (store) => {
    await make(store, "t", says("zebra AND okapi"), says("b"));
    const hostile = ['"', "'", "*", "(", "^", "-", ":", "{}", "%", "\\", "\0", "\ud800", "🧵", " \t\n", "", "𒀀\udfff"];
    for (const query of hostile) assert.deepEqual(await inT(store, query), [], query);
    const wrapped = [
      '"zebra',
      'zebra" OR "b',
      "zebra*",
      "^zebra",
      "-zebra",
      "words:zebra",
      "NEAR(zebra okapi)",
      "zebra\0okapi",
    ];
    const expected = [[2], [], [2], [2], [2], [], [], [2]];
    assert.deepEqual(await Promise.all(wrapped.map((query) => inT(store, query))), expected);
    assert.deepEqual([await inT(store, "zebra NOT okapi"), await inT(store, "b OR zebra")], [[], []]);
    assert.deepEqual(await inT(store, "zebra AND okapi"), [2]);
  });

  check("of a huge query, the first 32 different words of the first 10,000 characters count", async (store) => {
    const words = Array.from({ length: 200_000 }, (_, at) => `w${at}`);
    await make(
      store,
      "t",
      says(words.slice(0, 32).join(" ")),
      says(words.slice(1, 33).join(" ")),
      says("x".repeat(99)),
    );
    assert.deepEqual(await inT(store, words.join(" ")), [2]);
    assert.deepEqual(await inT(store, "w0 ".repeat(400_000)), [2]);
    assert.deepEqual(await inT(store, "x".repeat(1_000_000)), [4]);
    assert.deepEqual(await inT(store, `${"\ud800".repeat(10_000)} w0`), []);
  });

  check("events of any shape are searched without a failure", async (store) => {
    const deep = JSON.parse("[".repeat(3000) + '"zebra"' + "]".repeat(3000)) as unknown;
    const shapeless = [
      {},
      { message: null, result: null, blob: null },
      { message: "zebra", result: 3, blob: 7 },
      { message: { content: [null, 7, { type: "text" }, { type: "tool-call" }] }, result: { content: [[]] }, blob: {} },
    ];
    const types = ["message_end", "tool_end", "context_offloaded"] as "message_end"[];
    const wide = Array.from({ length: 200_000 }, () => "a");
    await make(
      store,
      "t",
      ...types.flatMap((type) => shapeless.map((fields) => event(type, fields))),
      message("assistant", calls([wide, "zebra"])),
    );
    await make(store, "deep", message("assistant", calls(deep)));
    assert.deepEqual(await inT(store, "zebra"), [14]);
    assert.deepEqual(await found(store, { resourceId: "me", query: "zebra" }), ["deep:2", "t:14"]);
  });
}
