import assert from "node:assert/strict";
import type { Store } from "@cinch/core";
import {
  type StoreCheck,
  bytes,
  clone,
  cloned,
  code,
  created,
  event,
  eventually,
  fork,
  ids,
  input,
  make,
  piece,
  rewind,
  says,
  shows,
  stored,
  texts,
  write,
} from "./samples.ts";

/** The thread of a subagent that `parent` has started. */
const child = (store: Store, id: string, parent: string) =>
  write(store, id, [created({ parent: { threadId: parent, seq: 1, toolCallId: "call" } }), input(`${id}'s own`)], {
    afterSeq: 0,
  });

const left = async (store: Store) => (await ids(store)).toSorted();

export function families(check: StoreCheck): void {
  check("a subagent's thread belongs to the thread that called, whichever thread it reads", async (store) => {
    await make(store, "caller");
    await make(store, "session", says("before"));
    const agent = { path: ["explore"], owner: "caller", rootThreadId: "caller", modeId: "default", depth: 0 };
    await store.append("new", [created({ agent })], { afterSeq: 0 });
    const forked = { ...cloned("session", 2, { toolCallId: "call" }), agent };
    await store.append("forked", [forked], { afterSeq: 2 });
    assert.deepEqual(await ids(store, { parentId: "caller" }), ["forked", "new"]);
    assert.deepEqual(await ids(store, { parentId: "session" }), []);
    assert.deepEqual(await ids(store, { topLevel: true }), ["session", "caller"]);
    await store.deleteThread("session");
    assert.deepEqual(await ids(store, { parentId: "caller" }), ["forked", "new"]);
    assert.equal((await store.read("forked")).length, 3);
    await store.deleteThread("caller");
    assert.deepEqual(await ids(store), []);
    await assert.rejects(store.append("late", [created({ agent })], { afterSeq: 0 }), code("THREAD_NOT_FOUND"));
  });

  check(
    "a deletion includes the threads of subagents at any depth, but not clones and their subagents",
    async (store) => {
      await make(store, "p", input("p's own"));
      await child(store, "p/child", "p");
      await child(store, "p/child/child", "p/child");
      await fork(store, "p/child/fork", { parent: "p/child", seq: 2 });
      await fork(store, "p/fork", { parent: "p", seq: 2 });
      await child(store, "p/fork/child", "p/fork");
      await clone(store, "clone", { parent: "p", seq: 2 });
      await child(store, "clone/child", "clone");
      await clone(store, "clone of child", { parent: "p/child", seq: 2 });
      await clone(store, "clone of fork", { parent: "p/fork", seq: 3 });
      await make(store, "other");
      await child(store, "other/child", "other");
      const before = await left(store);
      await store.deleteThread("p");
      const kept = before.filter((id) => id !== "p" && !id.startsWith("p/"));
      assert.deepEqual(await left(store), kept);
      for (const id of before.filter((one) => !kept.includes(one))) {
        await assert.rejects(store.read(id), code("THREAD_NOT_FOUND"));
        await assert.rejects(store.append(id, [created()], { afterSeq: 0 }), code("THREAD_NOT_FOUND"));
      }
      const said = kept.map(async (id) => [id, await texts(store, id)] as const);
      assert.deepEqual(Object.fromEntries(await Promise.all(said)), {
        clone: ["p's own"],
        "clone of child": ["p/child's own"],
        "clone of fork": ["p's own"],
        "clone/child": ["clone/child's own"],
        other: [],
        "other/child": ["other/child's own"],
      });
      await store.deleteThread("clone");
      assert.deepEqual(await left(store), ["clone of child", "clone of fork", "other", "other/child"]);
    },
  );

  check("the deletion of a subagent's thread includes its own subagents, but not its parent", async (store) => {
    await make(store, "p");
    await child(store, "a", "p");
    await child(store, "a/a", "a");
    await child(store, "b", "p");
    await store.deleteThread("a");
    assert.deepEqual(await left(store), ["b", "p"]);
    await assert.rejects(store.deleteThread("a/a"), code("THREAD_NOT_FOUND"));
    await store.deleteThread("p");
    assert.deepEqual(await left(store), []);
  });

  check("a deleted thread can have no new subagents", async (store) => {
    await make(store, "p");
    await store.deleteThread("p");
    for (const parent of ["p", "never", "late"]) {
      await assert.rejects(child(store, "late", parent), code("THREAD_NOT_FOUND"));
      await assert.rejects(fork(store, "late", { parent: parent, seq: 1 }), code("THREAD_NOT_FOUND"));
    }
    await make(store, "late");
  });

  check(
    "a deletion includes drafts, blobs and leases of subagents that another process drives",
    async (store, another) => {
      const other = await another();
      await make(store, "p");
      await child(store, "c", "p");
      const blobs = ["its own", "shared"].map((hash) => ({ hash, bytes: bytes("!") }));
      await other.append("c", [event("agent_start"), shows("its own"), shows("shared")], {
        afterSeq: 2,
        take: 1,
        blobs,
      });
      await other.saveDraft("c", 2, [piece("half a sen")]);
      await make(store, "elsewhere", shows("shared"));
      await store.deleteThread("p");
      assert.deepEqual([await other.holds("c", 2), await other.draft("c")], [false, []]);
      await assert.rejects(other.append("c", [says("tence")], { afterSeq: 5, epoch: 2 }), code("THREAD_NOT_FOUND"));
      await other.saveDraft("c", 2, [piece("tence")]);
      assert.deepEqual([await other.draft("c"), await stored(store, ["its own", "shared"])], [[], ["shared=!"]]);
    },
  );

  check("a deletion notifies the followers of each deleted thread, and no others", async (store, another) => {
    const other = await another();
    await make(store, "p");
    await clone(store, "clone", { parent: "p", seq: 1 });
    await child(store, "c", "p");
    await child(store, "c/c", "c");
    const notified = new Set<string>();
    for (const id of ["p", "c", "c/c", "clone"]) {
      store.follow(id, () => notified.add(`${id} here`));
      other.follow(id, () => notified.add(`${id} there`));
    }
    await store.deleteThread("p");
    await eventually(() => notified.size >= 6, "the notification of six followers");
    assert.ok(![...notified].some((follower) => follower.startsWith("clone")));
  });
}

export function leftovers(check: StoreCheck): void {
  check("of a deleted thread only the blobs that its clones read are kept", async (store) => {
    const hashes = ["read", "rewound", "after it", "not read"];
    const blobs = hashes.map((hash) => ({ hash, bytes: bytes("!") }));
    await store.append("p", [created(), shows("rewound")], { afterSeq: 0, blobs });
    await rewind(store, "p", { afterSeq: 2, toSeq: 1 });
    await store.append("p", [shows("read"), shows("after it"), shows("not read")], { afterSeq: 3, blobs });
    await clone(store, "c", { parent: "p", seq: 5 });
    await clone(store, "d", { parent: "p", seq: 4 });
    assert.deepEqual(await stored(store, hashes), ["read=!", "rewound=!", "after it=!", "not read=!"]);
    await store.deleteThread("p");
    assert.deepEqual(await stored(store, hashes), ["read=!", "after it=!"]);
    await store.deleteThread("c");
    assert.deepEqual(await stored(store, hashes), ["read=!"]);
    await store.deleteThread("d");
    assert.deepEqual(await stored(store, hashes), []);
  });

  check("blobs of rewound events are kept until their thread is deleted", async (store) => {
    const blobs = [{ hash: "rewound", bytes: bytes("!") }];
    await store.append("t", [created(), shows("rewound")], { afterSeq: 0, blobs });
    await rewind(store, "t", { afterSeq: 2, toSeq: 1 });
    await clone(store, "c", { parent: "t", seq: 3 });
    await make(store, "other", shows("rewound"));
    await store.deleteThread("other");
    await store.deleteThread("c");
    assert.deepEqual(await stored(store, ["rewound"]), ["rewound=!"]);
    await store.deleteThread("t");
    assert.deepEqual(await stored(store, ["rewound"]), []);
  });
}
