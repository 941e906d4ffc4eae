import assert from "node:assert/strict";
import {
  type StoreCheck,
  agentEnd,
  bytes,
  clone,
  code,
  created,
  event,
  file,
  ids,
  input,
  make,
  rewind,
  seqs,
  shows,
  stored,
  texts,
} from "./samples.ts";

export function deletingThreads(check: StoreCheck): void {
  check("a deleted thread is not found, its driver is refused, and its id cannot be used again", async (store) => {
    await make(store, "t", input("x"));
    await store.append("t", [event("agent_start")], { afterSeq: 2, take: 1 });
    await store.deleteThread("t");
    assert.deepEqual([await store.thread("t"), await store.holds("t", 2), await ids(store)], [undefined, false, []]);
    await assert.rejects(store.append("t", [agentEnd()], { afterSeq: 3, epoch: 2 }), code("THREAD_NOT_FOUND"));
    await assert.rejects(store.append("t", [created()], { afterSeq: 0 }), code("THREAD_NOT_FOUND"));
    await assert.rejects(store.read("t"), code("THREAD_NOT_FOUND"));
    await assert.rejects(store.deleteThread("t"), code("THREAD_NOT_FOUND"));
  });

  check("a read during a deletion is complete or fails", async (store) => {
    const inputs = Array.from({ length: 3000 }, (_, at) => input(`${at}`));
    await make(store, "t", ...inputs);
    const [read] = await Promise.allSettled([store.read("t"), store.deleteThread("t")]);
    if (read.status === "fulfilled") assert.equal(read.value.length, 3001);
    else assert.equal(read.reason.code, "THREAD_NOT_FOUND");
  });

  check("events that a clone reads are kept until the clone is deleted too", async (store) => {
    await make(store, "p", input("kept"), input("p's own"));
    await clone(store, "c", { parent: "p", seq: 2 });
    await clone(store, "d", { parent: "c", seq: 3 });
    await store.deleteThread("p");
    await store.deleteThread("c");
    assert.deepEqual(await texts(store, "d"), ["kept"]);
    assert.deepEqual(await seqs(store, "d"), [1, 2, 3, 4]);
    await store.deleteThread("d");
    assert.deepEqual(await ids(store), []);
  });
}

export function blobLifetime(check: StoreCheck): void {
  check("the events of a thread that refer to a blob are found, and no others", async (store) => {
    const blobs = [{ hash: "shared", bytes: bytes("x") }];
    await store.append("t", [created(), shows("shared")], { afterSeq: 0, blobs });
    await store.append("other", [created(), input("x"), shows("shared")], { afterSeq: 0, blobs });
    await clone(store, "c", { parent: "t", seq: 2 });
    await store.append("c", [shows("shared"), input("shared")], { afterSeq: 3, blobs });
    const found = await Promise.all(["t", "other", "c"].map((id) => store.findBlob(id, "shared")));
    assert.deepEqual(found, [[2], [3], [4, 2]]);
    await rewind(store, "c", { afterSeq: 5, toSeq: 3 });
    assert.deepEqual(await store.findBlob("c", "shared"), [2]);
    assert.deepEqual(await store.findBlob("t", "none"), []);
    await assert.rejects(store.findBlob("nowhere", "shared"), code("THREAD_NOT_FOUND"));
  });

  check("a blob is kept while any field of an event refers to it", async (store) => {
    const message = { id: "m", role: "user", content: [file("in-message")] };
    const result = { content: [file("in-result")] };
    const events = [
      created(),
      shows("in-input"),
      event("prompt_head", { blob: "in-head", key: "k", reason: "first" }),
      event("message_end", { message }),
      event("tool_end", { toolCallId: "c", toolName: "t", result, isError: false }),
    ];
    const hashes = ["in-input", "in-head", "in-message", "in-result"];
    const blobs = hashes.map((hash) => ({ hash, bytes: bytes(hash) }));
    await store.append("t", events, { afterSeq: 0, take: 0, release: true, blobs });
    assert.deepEqual(
      await stored(store, hashes),
      hashes.map((hash) => `${hash}=${hash}`),
    );
    await store.deleteThread("t");
    assert.deepEqual(await stored(store, hashes), []);
  });

  check("a blob that several threads refer to is sent once, and deleted with the last of them", async (store) => {
    const blobs = [{ hash: "shared", bytes: bytes("!") }];
    await store.append("a", [created(), shows("shared")], { afterSeq: 0, blobs });
    await store.append("b", [created(), shows("shared")], { afterSeq: 0 });
    await clone(store, "c", { parent: "a", seq: 2 });
    const left: string[][] = [];
    for (const id of ["a", "b", "c"]) {
      left.push(await stored(store, ["shared"]));
      await store.deleteThread(id);
    }
    left.push(await stored(store, ["shared"]));
    assert.deepEqual(left, [["shared=!"], ["shared=!"], ["shared=!"], []]);
  });

  check("a caller that changes its events and bytes does not change what is stored", async (store) => {
    const [given, mine] = [Buffer.from("!"), shows("blob")];
    await store.append("t", [created(), mine], { afterSeq: 0, blobs: [{ hash: "blob", bytes: given }] });
    given.fill(0);
    Object.assign(mine, { content: "changed" });
    (await store.blob("blob"))!.fill(0);
    for (const read of await store.read("t")) Object.assign(read, { content: "changed" });
    assert.deepEqual([await stored(store, ["blob"]), await texts(store, "t")], [["blob=!"], [""]]);
  });

  check("an append that is not written stores no blob", async (store) => {
    await make(store, "t");
    await store.append("t", [shows("late")], { afterSeq: 0, blobs: [{ hash: "late", bytes: bytes("!") }] });
    assert.deepEqual(await stored(store, ["late", "never"]), []);
  });
}
