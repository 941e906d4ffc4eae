import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { memoryStore, type DriveOutcome, type Placement, type Store } from "@cinch/core";
import { graphilePlacement, type GraphileOptions } from "@cinch/postgres";
import { Place } from "../place.ts";
import { Proxy } from "../proxy.ts";
import { until } from "../until.ts";

/** A worker in this process that counts its drives of each thread. */
class CountingWorker {
  readonly placement: Placement;
  readonly drives = new Map<string, number>();

  constructor(options?: GraphileOptions) {
    this.placement = graphilePlacement(options);
  }

  async serve(store: Store, drive: (threadId: string) => DriveOutcome | Promise<DriveOutcome> = () => "done") {
    await this.placement.open!({ store });
    await this.placement.serve(async (threadId) => {
      this.drives.set(threadId, (this.drives.get(threadId) ?? 0) + 1);
      return drive(threadId);
    });
  }

  async driven(threadId: string): Promise<void> {
    await until(`the drive of ${threadId}`, () => this.drives.has(threadId));
  }

  /** Wakes again while the worker does not drive: a job that it fetched by a connection that was lost then is lost, too. */
  async drivenFrom(front: Placement, threadId: string): Promise<void> {
    await until(`the drive of ${threadId}`, async () => {
      await front.wake(threadId);
      await setTimeout(500);
      return this.drives.has(threadId);
    });
  }
}

/** The schema of the jobs goes with that of the store. */
async function dropJobs(place: Place): Promise<void> {
  await place.query(`DROP SCHEMA IF EXISTS "${place.schema}_wakes" CASCADE`);
}

/** Connections of the library have listened, or have fetched jobs of this schema. */
const JOBS = `application_name = 'cinch' AND (query LIKE '%_private_jobs%' OR query LIKE 'LISTEN "jobs:insert"%')`;

describe("graphilePlacement", { concurrency: 4 }, () => {
  test("needs a database: that of the store, or its own", async () => {
    const store = memoryStore();
    await assert.rejects(graphilePlacement().open!({ store }), {
      name: "CinchError",
      code: "INVALID_CONFIG",
      message: /is not a postgresStore. Use one, or give graphilePlacement\({ url }\)/,
    });
    assert.throws(() => graphilePlacement({ url: "nowhere" }), { code: "INVALID_CONFIG" });
    assert.throws(() => graphilePlacement({ uri: "x" } as GraphileOptions), { code: "INVALID_CONFIG" });
    await using place = await Place.make();
    const worker = new CountingWorker({ url: place.url, schema: `${place.schema}_own` });
    await worker.serve(store);
    await worker.placement.wake("t");
    await worker.driven("t");
    await worker.placement.close!();
    await assert.rejects(worker.placement.wake("t"), { code: "CLOSED" });
    await place.query(`DROP SCHEMA "${place.schema}_own" CASCADE`);
  });

  test("brings what a worker hands over to another one", async () => {
    await using place = await Place.make();
    const [leaving, staying] = [new CountingWorker(), new CountingWorker()];
    const end = Promise.withResolvers<DriveOutcome>();
    await leaving.serve(await place.store(), () => end.promise);
    await leaving.placement.wake("t");
    await leaving.driven("t");
    await staying.serve(await place.store());
    await leaving.placement.drain();
    end.resolve("handed_over");
    await staying.driven("t");
    for (const worker of [leaving, staying]) await worker.placement.close!();
    await dropJobs(place);
  });

  test("many processes can create its tables at once, and each of them wakes", async () => {
    await using place = await Place.make();
    const stores = await Promise.all(Array.from({ length: 6 }, () => place.store()));
    const placements = stores.map(() => graphilePlacement());
    await Promise.all(placements.map((placement, at) => placement.open!({ store: stores[at]! })));
    const worker = new CountingWorker();
    await worker.serve(stores[0]!);
    for (const [at, placement] of placements.entries()) await placement.wake(`t${at}`);
    for (const at of placements.keys()) await worker.driven(`t${at}`);
    await worker.placement.close!();
    await dropJobs(place);
  });

  test("without the right to create schemas it uses the one that an administrator has made, and otherwise says so", async () => {
    await using place = await Place.make();
    const role = `app_${place.schema}`;
    const wakes = `"${place.schema}_wakes"`;
    await place.query(
      `CREATE ROLE "${role}" LOGIN PASSWORD 'x'; CREATE SCHEMA "${place.schema}" AUTHORIZATION "${role}"`,
    );
    const url = new URL(place.url);
    Object.assign(url, { username: role, password: "x" });
    const store = await place.store({ url: url.href });
    const lacking = {
      code: "STORE_FAILED",
      message: /lacks a right .* for database .*CREATE SCHEMA "t_\w+_wakes" AUTHORIZ/,
    };
    await assert.rejects(graphilePlacement().open!({ store }), lacking);
    await place.query(`CREATE SCHEMA ${wakes} AUTHORIZATION "${role}"`);
    const workers = [new CountingWorker(), new CountingWorker()];
    for (const { placement } of workers) place.add({ close: () => placement.close!() });
    await Promise.all(workers.map((worker) => worker.serve(store)));
    await workers[0]!.placement.wake("t");
    await until("the drive", () => workers.some(({ drives }) => drives.has("t")));
    await Promise.all(workers.map(({ placement }) => placement.close!()));
    await store.close();
    await place.query(`DROP OWNED BY "${role}" CASCADE; DROP ROLE "${role}"`);
  });

  test("a worker that has lost its connections fetches jobs again", async () => {
    await using place = await Place.make();
    await using proxy = await Proxy.to(place.url);
    const store = await place.store({ directUrl: proxy.url });
    const worker = new CountingWorker();
    await worker.serve(store);
    const front = graphilePlacement();
    await front.open!({ store });
    for (const round of [1, 2, 3]) {
      proxy.dropAll();
      await worker.drivenFrom(front, `dropped ${round}`);
    }
    proxy.down();
    await front.wake("down");
    assert.equal(worker.drives.has("down"), false);
    proxy.up();
    await worker.drivenFrom(front, "down");
    await worker.placement.close!();
    await dropJobs(place);
  });

  test("a worker whose server has fallen silent fetches jobs again, and can leave meanwhile", async () => {
    await using place = await Place.make();
    await using proxy = await Proxy.to(place.url);
    const store = await place.store();
    const [stays, leaves] = [
      new CountingWorker({ directUrl: proxy.url }),
      new CountingWorker({ directUrl: proxy.url }),
    ];
    await stays.serve(store);
    await leaves.serve(store);
    proxy.freeze();
    await leaves.placement.drain();
    await leaves.placement.wake("t");
    proxy.thaw();
    await stays.drivenFrom(leaves.placement, "t");
    assert.equal(leaves.drives.size, 0);
    await Promise.all([stays.placement.close!(), leaves.placement.close!()]);
    await dropJobs(place);
  });

  test("tables that are created in another schema do not end its workers, nor set the exit code", async () => {
    await using place = await Place.make();
    await using other = await Place.make();
    const worker = new CountingWorker();
    await worker.serve(await place.store());
    const second = graphilePlacement();
    await second.open!({ store: await other.store() });
    await worker.placement.wake("t");
    await worker.driven("t");
    assert.equal(process.exitCode, undefined);
    await worker.placement.close!();
    await dropJobs(place);
    await dropJobs(other);
  });

  test("a thread can be woken although its job is locked by a worker that died while it fetched it", async () => {
    await using place = await Place.make();
    const store = await place.store();
    const front = graphilePlacement();
    await front.open!({ store });
    await front.wake("t");
    const jobs = `"${place.schema}_wakes"._private_jobs`;
    await place.query(`UPDATE ${jobs} SET locked_at = now(), locked_by = 'dead', attempts = 1`);
    const worker = new CountingWorker();
    await worker.serve(store);
    await front.wake("t");
    await worker.driven("t");
    await until("the end of the job", async () => (await place.query(`SELECT 1 FROM ${jobs}`)).length === 1);
    await worker.placement.close!();
    await place.query(`UPDATE ${jobs} SET locked_at = NULL, locked_by = NULL`);
    await graphilePlacement().open!({ store });
    assert.deepEqual(await place.query(`SELECT 1 FROM ${jobs}`), []);
    await dropJobs(place);
  });

  test("wakes of one thread that wait are one job, and a process that only wakes has no connection more", async () => {
    await using place = await Place.make();
    const store = await place.store();
    const before = await place.query(`SELECT pid FROM pg_stat_activity WHERE ${JOBS}`);
    const front = graphilePlacement();
    await front.open!({ store });
    await Promise.all(Array.from({ length: 20 }, () => front.wake("t")));
    const jobs = await place.query(`SELECT key FROM "${place.schema}_wakes".jobs`);
    assert.equal(jobs.length, 1);
    const pids = before.map(({ pid }) => pid);
    const own = `SELECT query FROM pg_stat_activity WHERE ${JOBS} AND query LIKE '%${place.schema}%' AND NOT pid = ANY($1)`;
    assert.deepEqual(await place.query(own, [pids]), []);
    const worker = new CountingWorker();
    await worker.serve(store);
    await worker.driven("t");
    assert.equal(worker.drives.get("t"), 1);
    await worker.placement.close!();
    await dropJobs(place);
  });
});
