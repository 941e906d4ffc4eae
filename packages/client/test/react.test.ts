import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, type Client } from "@cinch/client";
import { usePending, useThread, useThreads, type ThreadLists, type ThreadSource } from "@cinch/client/react";
import type { Harness, ThreadRecord } from "@cinch/core";
import { ThreadChanges } from "@cinch/core/remote";
import { call, say, script } from "@cinch/testkit";
import { Component, createElement, StrictMode, type ReactNode } from "react";
import { create, type ReactTestRenderer } from "react-test-renderer";
import { noting } from "../../core/test/support.ts";
import { authenticate, serving } from "../../server/test/serving.ts";

const mounted = (component: () => ReactNode): ReactTestRenderer => create(createElement(component));

async function shows(root: ReactTestRenderer, text: string): Promise<void> {
  while (root.toJSON() !== (text as unknown)) await new Promise((resolve) => setTimeout(resolve, 5));
}

const sources: Record<string, (at: { url: string; harness: Harness }) => Client | Harness> = {
  "of a server": ({ url }) => connect({ url }),
  "of this process": ({ harness }) => harness,
};

for (const [where, sourceOf] of Object.entries(sources)) {
  test(`useThread draws the display of a session ${where}, and with select only its part`, async () => {
    await using at = await serving({ model: script(say("hello"), say("again")) });
    const client = sourceOf(at);
    const session: ThreadSource & Pick<Client, "sendMessage" | "renameThread" | "close"> = await client.createSession();
    let [drawn, titles] = [0, 0];
    const root = mounted(() => {
      drawn++;
      const { messages, status } = useThread(session);
      return `${messages.length} ${status}`;
    });
    const titled = mounted(() => {
      titles++;
      return useThread(session, ({ title }) => ({ title })).title;
    });
    await shows(root, "0 idle");
    await session.sendMessage({ content: "hi" });
    await shows(root, "2 idle");
    await session.renameThread({ title: "Named" });
    await shows(titled, "Named");
    const before = { drawn, titles };
    await session.sendMessage({ content: "more" });
    await shows(root, "4 idle");
    assert.ok(drawn > before.drawn);
    assert.equal(titles, before.titles, "the title did not change");
    root.unmount();
    titled.unmount();
    await client.close();
  });

  test(`useThreads and usePending follow the threads ${where}`, async () => {
    const { note } = noting();
    await using at = await serving({
      model: script(call("note", { what: "x" }), say("done")),
      tools: { note },
      harness: { permissions: [] },
    });
    const client = sourceOf(at);
    const root = mounted(() => {
      const threads = useThreads(client);
      const pending = usePending(client);
      return `${threads?.map(({ title }) => title).join() ?? "loading"}: ${pending?.length ?? "loading"}`;
    });
    await shows(root, ": 0");
    const session = await at.harness.createSession();
    await session.createThread({ title: "Work" });
    await shows(root, "Work: 0");
    const turn = session.sendMessage({ content: "go" });
    await shows(root, "Work: 1");
    await session.respondToToolApproval({ decision: "approve" });
    await turn;
    await shows(root, "Work: 0");
    await session.deleteThread({ threadId: session.getCurrentThreadId()! });
    await shows(root, ": 0");
    root.unmount();
    await client.close();
  });
}

/** Shows what a component below it threw. */
class Boundary extends Component<{ children?: ReactNode }, { said: string }> {
  override state = { said: "" };

  static getDerivedStateFromError(error: Error & { code: string }) {
    return { said: error.code };
  }

  override render(): ReactNode {
    return this.state.said || this.props.children;
  }
}

for (const [name, hook] of Object.entries({ useThreads, usePending }))
  test(`${name} throws to the error boundary why the server sends no list, and a new component asks again`, async (t) => {
    t.mock.method(console, "error", () => undefined);
    await using at = await serving({ model: script(say("hi")), authenticate });
    const tokens = ["old-token", "old-token", "ann-token"];
    const client = connect({ url: at.url, token: () => tokens.shift()! });
    const List = () => `${hook(client)?.length ?? "loading"}`;
    const shown = () => create(createElement(StrictMode, null, createElement(Boundary, null, createElement(List))));
    const refused = shown();
    await shows(refused, "UNAUTHENTICATED");
    refused.unmount();
    const again = shown();
    await shows(again, "0");
    again.unmount();
    await client.close();
  });

test("what useThread selects may be a set, a map, a date or an object of a class: another one is a change", async () => {
  await using at = await serving({ model: script(say("hello")) });
  const session = await at.harness.createSession();
  await session.createThread({ title: "One" });
  class Title {
    readonly #text: string;
    constructor(text: string) {
      this.#text = text;
    }
    get text() {
      return this.#text;
    }
  }
  const root = mounted(() => {
    const set = useThread(session, ({ title }) => new Set([title]));
    const map = useThread(session, ({ title }) => new Map([["title", title]]));
    const date = useThread(session, ({ title }) => new Date(title.length));
    const own = useThread(session, ({ title }) => new Title(title));
    const list = useThread(session, ({ title }) => [title]);
    return [...set, map.get("title"), date.getTime(), own.text, ...list].join();
  });
  await shows(root, "One,One,3,One,One");
  await session.renameThread({ title: "Other" });
  await shows(root, "Other,Other,5,Other,Other");
  root.unmount();
});

test("what is shown stays when the client is closed", async () => {
  await using at = await serving({ model: script(say("hi")) });
  const client = connect({ url: at.url });
  const session = await client.createSession();
  await session.createThread({ title: "Kept" });
  const root = mounted(() => `${useThreads(client)?.length ?? "loading"} ${useThread(session).title || "none"}`);
  await shows(root, "1 Kept");
  await client.close();
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(root.toJSON(), "1 Kept");
  root.unmount();
});

for (const [where, sourceOf] of Object.entries(sources))
  test(`lists ${where} that no component shows any more wait for nothing`, async (t) => {
    await using at = await serving({ model: script(say("hi")) });
    const client = sourceOf(at);
    const root = mounted(() => `${useThreads(client)?.length ?? "loading"} ${usePending(client)?.length ?? "loading"}`);
    await shows(root, "0 0");
    const { mock } = t.mock.method(globalThis, "setTimeout");
    root.unmount();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const waits = mock.calls.filter(({ arguments: [, ms] }) => ms === 10_000);
    assert.deepEqual(waits, []);
    await client.close();
  });

test("a list that fails again and again is followed once", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const open = new Set<ThreadChanges>();
  const threads: ThreadRecord[][] = [[]];
  const source: ThreadLists = {
    listThreads: async () => threads.pop() ?? Promise.reject(new Error("The list is broken.")),
    pending: async () => [],
    followThreads: async () => {
      const changes: ThreadChanges = new ThreadChanges(() => open.delete(changes));
      open.add(changes);
      return changes;
    },
  };
  const root = mounted(() => `${useThreads(source)?.length ?? "loading"}`);
  const passed = async () => {
    for (let n = 0; n < 10; n++) await new Promise((resolve) => setImmediate(resolve));
  };
  await passed();
  for (const changes of open) changes.end();
  for (let tries = 0; tries < 3; tries++) {
    await passed();
    t.mock.timers.tick(10_000);
    await passed();
    assert.ok(open.size <= 1, `${open.size} are open`);
  }
  assert.equal(root.toJSON(), "0");
  root.unmount();
  await passed();
  assert.equal(open.size, 0);
});
