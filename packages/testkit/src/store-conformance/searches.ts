import assert from "node:assert/strict";
import {
  type StoreCheck,
  clone,
  created,
  event,
  fork,
  ids,
  input,
  make,
  renamed,
  rewind,
  says,
  write,
} from "./samples.ts";

const toolSaid = (content: string) =>
  event("tool_end", { toolCallId: "c", toolName: "t", result: { content }, isError: false, durationMs: 1 });

export function searching(check: StoreCheck): void {
  check("words are found in titles, messages and results, anywhere in the thread", async (store) => {
    await make(store, "title", renamed("About Zebras"));
    await make(store, "message", says("A zebra is striped"));
    await make(store, "result", toolSaid("zebra.txt: 3 stripes"));
    await make(store, "none", says("A horse"));
    assert.deepEqual(await ids(store, { query: "zebra" }), ["result", "message", "title"]);
    assert.deepEqual(await ids(store, { query: "ZEBRA  stripe" }), ["result", "message"]);
    assert.deepEqual(await ids(store, { query: "zebra", limit: 1, before: "result" }), ["message"]);
    assert.deepEqual(await ids(store, { query: "thread striped" }), ["message"]);
    assert.deepEqual(await ids(store, { query: "unicorn" }), []);
    assert.deepEqual(await ids(store, { query: " " }), ["none", "result", "message", "title"]);
  });

  check("words in events are found by their prefixes, and titles by any part of them", async (store) => {
    await make(store, "message", says("Striped zebras, in src/searchIndex.ts"));
    await make(store, "title", renamed("Subtitles"));
    const typed = (text: string) => Array.from(text, (_, at) => text.slice(0, at + 1));
    for (const query of [...typed("zebras"), ...typed("SRC/searchIndex.t")])
      assert.ok((await ids(store, { query })).includes("message"), query);
    assert.deepEqual(await ids(store, { query: "ebras" }), []);
    assert.deepEqual(await ids(store, { query: "zebrass" }), []);
    assert.deepEqual(await ids(store, { query: "title" }), ["title"]);
    assert.deepEqual(await ids(store, { query: "zebra stri thread" }), ["message"]);
  });

  check("searches ignore case and accents, in any script", async (store) => {
    const said = {
      french: "L'été à Besançon",
      german: "Straße und Öl",
      greek: "ὁ λόγος, Σίσυφος",
      russian: "Ёлка и снег",
      turkish: "İstanbul ve Iğdır",
      arabic: "كِتَابٌ جَدِيد",
      hindi: "नमस्ते दुनिया",
      chinese: "我们在东京见面",
      japanese: "カタカナとひらがな",
      korean: "한국어를 배워요",
      wide: "ＡＢＣ ﬁne",
    };
    for (const [id, text] of Object.entries(said)) await make(store, id, says(text));
    const finds = async (query: string) => (await ids(store, { query })).join();
    assert.equal(await finds("ETE besancon"), "french");
    assert.equal(await finds("été"), "french");
    assert.equal(await finds("STRASSE ol"), "german");
    assert.equal(await finds("ΛΟΓΟΣ σισυφοσ"), "greek");
    assert.equal(await finds("елка"), "russian");
    assert.equal(await finds("istanbul igdir"), "turkish");
    assert.equal(await finds("كتاب"), "arabic");
    assert.equal(await finds("दुनि"), "hindi");
    assert.equal(await finds("东京"), "chinese");
    assert.equal(await finds("ひらがな"), "japanese");
    assert.equal(await finds("한국"), "korean");
    assert.equal(await finds("abc fine"), "wide");
  });

  check("a search sees the current title", async (store) => {
    await make(store, "t", renamed("Zebras"));
    await store.append("t", [renamed("Giraffes & co. 🦒")], { afterSeq: 2 });
    assert.deepEqual(await ids(store, { query: "zebra" }), []);
    assert.deepEqual(await ids(store, { query: "giraffe" }), ["t"]);
    assert.deepEqual([await ids(store, { query: "🦒" }), await ids(store, { query: "🧵" })], [["t"], []]);
    assert.deepEqual([await ids(store, { query: "& " }), await ids(store, { query: "\t\n" })], [["t"], ["t"]]);
  });

  check(
    "a search can be limited to one resource, to active threads, and to threads that are not a subagent's",
    async (store) => {
      await make(store, "mine", says("zebra"));
      await store.append("mine", [input("on")], { afterSeq: 2, active: true });
      await write(store, "yours", [created({ resourceId: "you" }), says("zebra")], { afterSeq: 0 });
      await fork(store, "child", { parent: "mine", seq: 2 });
      assert.deepEqual(await ids(store, { query: "zebra" }), ["child", "yours", "mine"]);
      assert.deepEqual(await ids(store, { query: "zebra", resourceId: "me" }), ["child", "mine"]);
      assert.deepEqual(await ids(store, { query: "zebra", topLevel: true }), ["yours", "mine"]);
      assert.deepEqual(await ids(store, { query: "zebra", active: true }), ["mine"]);
    },
  );

  check(
    "a search covers the events that a thread reads: inherited ones, but not rewound or deleted ones",
    async (store) => {
      await make(store, "p", says("zebra"), says("giraffe"));
      await clone(store, "c", { parent: "p", seq: 2 });
      assert.deepEqual(await ids(store, { query: "zebra" }), ["c", "p"]);
      assert.deepEqual(await ids(store, { query: "giraffe" }), ["p"]);
      await rewind(store, "p", { afterSeq: 3, toSeq: 2 });
      assert.deepEqual(await ids(store, { query: "giraffe" }), []);
      await store.deleteThread("p");
      assert.deepEqual(await ids(store, { query: "zebra" }), ["c"]);
      await store.deleteThread("c");
      assert.deepEqual(await ids(store, { query: "zebra" }), []);
    },
  );

  check("events after a rewind are found, and those of a clone only in the clone", async (store) => {
    await make(store, "p", says("zebra"));
    await clone(store, "c", { parent: "p", seq: 2 });
    await write(store, "c", [says("okapi")], { afterSeq: 3 });
    await rewind(store, "p", { afterSeq: 2, toSeq: 1 });
    await write(store, "p", [says("giraffe")], { afterSeq: 3 });
    const found = await Promise.all(["zebra", "okapi", "giraffe"].map((query) => ids(store, { query })));
    assert.deepEqual(found, [["c"], ["c"], ["p"]]);
  });

  check("a malformed event does not prevent other threads from being listed and found", async (store) => {
    const shapeless = ["message_end", "tool_end"].flatMap((type) =>
      [
        {},
        { message: null, result: null },
        { message: {}, result: {} },
        { message: { content: [null, { type: "text" }] } },
      ].map((fields) => event(type as "message_end", fields)),
    );
    await make(store, "before", says("zebra"));
    await make(store, "shapeless", ...shapeless, renamed("Zebras"));
    await make(store, "after", says("zebra"));
    assert.deepEqual((await ids(store)).toSorted(), ["after", "before", "shapeless"]);
    assert.deepEqual((await ids(store, { query: "zebra" })).toSorted(), ["after", "before", "shapeless"]);
    assert.equal((await store.read("shapeless")).length, shapeless.length + 2);
  });

  check("a query has no syntax: every character is literal", async (store) => {
    await make(store, "t", says("a AND b"));
    const hostile = [
      '"',
      "'",
      "*",
      "a*",
      "(",
      "a OR",
      "NEAR(a b)",
      "-a",
      "a:b",
      "^a",
      "%",
      "_",
      "\\",
      "\u0000",
      "🧵",
      "\ud800",
      "{a b}:",
    ];
    for (const query of hostile) assert.ok(Array.isArray(await ids(store, { query })), query);
    assert.deepEqual(await ids(store, { query: "a AND b" }), ["t"]);
    assert.deepEqual(await ids(store, { query: "x OR b" }), []);
  });
}
