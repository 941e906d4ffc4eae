/** Appends of one thread beside a bare INSERT with a commit, by turns; then of 64 threads at once. */
import pg from "../../node_modules/pg/lib/index.js";
import { median } from "../lib/numbers.mjs";
import { created, event, postgresIn, says, storeAt } from "../lib/postgres/server.mjs";

const BLOCK = 100;

export default async function postgresAppend({ blocks, threads, folder, now }) {
  const { url } = await postgresIn(folder);
  const store = await storeAt(url);
  const client = new pg.Client(url);
  await client.connect();
  await client.query("CREATE TABLE bare (no integer PRIMARY KEY, body text NOT NULL)");
  const text = "x".repeat(400);
  const journal = await driven(store, "one", text);
  const bare = [];
  const appends = [];
  let no = 0;
  const insert = () => client.query("INSERT INTO bare (no, body) VALUES ($1, $2)", [no++, text]);
  for (let block = 0; block < blocks; block++) {
    for (let n = 0; n < BLOCK; n++) bare.push(await timed(insert, now));
    for (let n = 0; n < BLOCK; n++) appends.push(await timed(journal, now));
  }
  const alone = await rate([journal], 1_000, now);
  const many = await Promise.all(Array.from({ length: threads }, (_, at) => driven(store, `t${at}`, text)));
  await rate(many, 20, now);
  const together = await rate(many, 100, now);
  await store.close();
  await client.end();
  const [bareMs, appendMs] = [median(bare.slice(BLOCK)), median(appends.slice(BLOCK))];
  return { bareMs, appendMs, times: appendMs / bareMs, alone, together, gain: together / alone };
}

/** Appends the next event of a thread that this store drives. */
async function driven(store, id, text) {
  await store.append(id, [created()], { afterSeq: 0 });
  await store.append(id, [event("agent_start")], { afterSeq: 1, take: 0, awake: true });
  let seq = 2;
  return () => store.append(id, [says(text)], { afterSeq: seq++, epoch: 1, awake: true, active: true, dueAt: null });
}

async function timed(work, now) {
  const from = now();
  await work();
  return now() - from;
}

/** Appends a second: of each thread one after another, of all threads at once. */
async function rate(all, times, now) {
  const from = now();
  await Promise.all(
    all.map(async (append) => {
      for (let n = 0; n < times; n++) await append();
    }),
  );
  return (all.length * times * 1_000) / (now() - from);
}
