import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Client } from "pg";
import type { AppendOptions, StampedEvent } from "@cinch/core/store";
import { appendOpOf } from "../src/append-op.ts";
import { created, event } from "./events.ts";
import { Place } from "./place.ts";
import { until } from "./until.ts";

/** A session in a transaction, which appends as some holder. */
class OpenTransaction implements AsyncDisposable {
  readonly #client: Client;
  readonly #schema: string;

  private constructor(client: Client, schema: string) {
    this.#client = client;
    this.#schema = schema;
  }

  static async begin({ url, schema }: Place): Promise<OpenTransaction> {
    const client = new Client(url);
    await client.connect();
    await client.query("BEGIN");
    return new OpenTransaction(client, schema);
  }

  async append(
    holder: number,
    { id, events, dead = {}, ...options }: { id: string; events: StampedEvent[]; dead?: object } & AppendOptions,
  ): Promise<string> {
    const text = `SELECT "${this.#schema}".append_many($1, $2, $3, '{}', '{}') -> 0 ->> 'kind' AS kind`;
    const values = [JSON.stringify([appendOpOf(id, events, options)]), holder, JSON.stringify(dead)];
    const { rows } = await this.#client.query<{ kind: string }>(text, values);
    return rows[0]!.kind;
  }

  async beat(holder: number): Promise<void> {
    await this.#client.query(`SELECT FROM "${this.#schema}".beat($1, '{}', NULL, false)`, [holder]);
  }

  async commit(): Promise<void> {
    await this.#client.query("COMMIT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end();
  }
}

const start = () => [event("agent_start")];
const P = 1_000;
const Q = 1_001;

/** Thread `old` is held by P, whose beat stands still, and `new` is free. */
async function heldByP() {
  const place = await Place.make();
  const store = await place.store();
  await place.query("INSERT INTO cinch.holders (no, seen) VALUES ($1, now()), ($2, now())", [P, Q]);
  for (const id of ["old", "new"]) await store.append(id, [created()], { afterSeq: 0 });
  await using first = await OpenTransaction.begin(place);
  assert.equal(await first.append(P, { id: "old", events: start(), afterSeq: 1, take: 0 }), "appended");
  await first.commit();
  const beatOf = async (no: number) => {
    const [row] = await place.query("SELECT beat::text AS beat FROM cinch.holders WHERE no = $1", [no]);
    return row && Number(row["beat"]);
  };
  const dead = { [P]: await beatOf(P) };
  return { place, beatOf, dead, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
}

describe("the rows of holders", { concurrency: 6 }, () => {
  test("a holder that takes a lease while its last one is taken from it keeps its row", async () => {
    await using at = await heldByP();
    const { place, beatOf, dead } = at;
    await using living = await OpenTransaction.begin(place);
    assert.equal(await living.append(P, { id: "new", events: start(), afterSeq: 1, take: 0 }), "appended");
    // Q does not see the lease that P has taken, and must neither delete the row nor wait for P.
    await using taking = await OpenTransaction.begin(place);
    assert.equal(await taking.append(Q, { id: "old", events: start(), afterSeq: 2, take: 1, dead }), "appended");
    await taking.commit();
    await living.commit();
    assert.notEqual(await beatOf(P), undefined);
  });

  test("a holder that takes a lease while its row is being deleted gets another one", async () => {
    await using at = await heldByP();
    const { place, beatOf, dead } = at;
    await using taking = await OpenTransaction.begin(place);
    assert.equal(await taking.append(Q, { id: "old", events: start(), afterSeq: 2, take: 1, dead }), "appended");
    await using living = await OpenTransaction.begin(place);
    const appended = living.append(P, { id: "new", events: start(), afterSeq: 1, take: 0 });
    const waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE $1";
    await until("the wait", async () => (await place.query(waits, [`%${place.schema}%append_many%`])).length > 0);
    await taking.commit();
    assert.equal(await appended, "appended");
    await living.commit();
    assert.notEqual(await beatOf(P), undefined);
    assert.notEqual(await beatOf(P), dead[P], "what was found dead is not this row");
  });

  test("a holder beats while an append takes a lease for it and is not committed", async () => {
    await using at = await heldByP();
    const { place, beatOf, dead } = at;
    await using living = await OpenTransaction.begin(place);
    assert.equal(await living.append(P, { id: "new", events: start(), afterSeq: 1, take: 0 }), "appended");
    await using beating = await OpenTransaction.begin(place);
    await beating.beat(P);
    await beating.commit();
    assert.equal(await beatOf(P), dead[P]! + 1);
    await living.commit();
  });

  test("a holder whose row was deleted gets it back with its lock, by a beat or with the next lease", async () => {
    await using place = await Place.make();
    const store = await place.store();
    const locked = async () => {
      const rows = await place.query("SELECT locked_since = pg_postmaster_start_time() AS locked FROM cinch.holders");
      return rows.map((row) => row["locked"]);
    };
    await until("the lock", async () => (await locked())[0] === true);
    const no = Number((await place.query("SELECT no FROM cinch.holders"))[0]!["no"]);
    await store.append("t", [created()], { afterSeq: 0 });
    for (const revive of [
      (session: OpenTransaction) => session.beat(no),
      (session: OpenTransaction) => session.append(no, { id: "t", events: start(), afterSeq: 1, take: 0 }),
    ]) {
      await place.query("DELETE FROM cinch.holders");
      await using session = await OpenTransaction.begin(place);
      await revive(session);
      await session.commit();
      assert.deepEqual(await locked(), [true]);
    }
  });
});
