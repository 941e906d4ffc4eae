import assert from "node:assert/strict";
import { test } from "node:test";
import { connect, RemoteSession, type AsyncMethod, type SessionErrors, type SessionFace } from "@cinch/client";
import { Agent, Harness, type Session } from "@cinch/core";
import { script } from "@cinch/testkit";

/** Does not compile if a method of a session is missing, or has another type. */
const isSession: (
  session: RemoteSession,
) => Pick<Session, Exclude<keyof Session, "push" | "abandon" | "once" | "listModes">> = (session) => session;
/** Does not compile if the table of errors lacks a method, or has one too many. */
const errorsOfAll: Record<AsyncMethod, unknown> = {} as SessionErrors;
const allOfErrors: Record<keyof SessionErrors, unknown> = {} as Record<AsyncMethod, unknown>;

test("a session of a server has every method of a session, by type and in fact", async () => {
  assert.ok([isSession, errorsOfAll, allOfErrors]);
  const harness = new Harness({ id: "test", agent: new Agent({ name: "a", model: script() }) });
  const session: SessionFace = await harness.createSession();
  const client = connect({ url: "http://cinch.example" });
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(session)).filter((name) => name !== "constructor");
  const missing = names.filter((name) => !(name in client));
  assert.deepEqual(missing, ["once", "push", "abandon"], "these are for servers and the harness itself");
  await client.close();
  await harness.close();
});
