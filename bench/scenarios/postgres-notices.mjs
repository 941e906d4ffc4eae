/** Appends of several processes to a thread each, 16 in each process, with notices to followers in the next process, and without notices, by turns. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { median } from "../lib/numbers.mjs";
import { postgresIn, storeAt } from "../lib/postgres/server.mjs";

const PROGRAM = new URL("../lib/postgres/appender.mjs", import.meta.url);

export default async function postgresNotices({ processes, rounds, ms, folder }) {
  const { url } = await postgresIn(folder);
  await (await storeAt(url)).close();
  const all = Array.from({ length: processes }, (_, no) => fork(PROGRAM, [url, String(no), String(processes)]));
  await Promise.all(all.map((one) => once(one, "message")));
  const rate = async (notices) => {
    const answers = all.map((one) => once(one, "message"));
    for (const one of all) one.send({ notices, ms });
    const counts = await Promise.all(answers);
    return (counts.reduce((sum, [{ appended }]) => sum + appended, 0) * 1_000) / ms;
  };
  const rates = { with: [], without: [] };
  await rate(true);
  for (let round = 0; round < rounds; round++) {
    rates.without.push(await rate(false));
    rates.with.push(await rate(true));
  }
  for (const one of all) one.kill("SIGKILL");
  const ratios = rates.with.map((one, at) => one / rates.without[at]);
  return { with: median(rates.with), without: median(rates.without), costPercent: 100 * (1 - median(ratios)) };
}
