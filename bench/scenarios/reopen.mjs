import { collectGarbage } from "../lib/garbage.mjs";

/** Opens a thread that another process has written: the time from the import to the state that a UI draws. */
export default async function reopen({ load, hooksOf, folder, now }) {
  const from = now();
  const start = await load();
  const loaded = now();
  const host = await start({ folder, hooks: hooksOf({}) });
  await host.open("s1");
  if (!host.eventCount) await host.messages("s1");
  const shown = now();
  const events = host.eventCount?.("s1");
  collectGarbage();
  const heapMB = process.memoryUsage().heapUsed / 1024 ** 2;
  const asked = now();
  await host.sendMessage("s1", "CHAT 501");
  return { importMs: loaded - from, openMs: shown - loaded, nextTurnMs: now() - asked, events, heapMB };
}
