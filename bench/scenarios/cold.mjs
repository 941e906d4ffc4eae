/** Everything before the first message: import, start, a new thread. */
export default async function cold({ load, hooksOf, folder, now }) {
  const from = now();
  const start = await load();
  const loaded = now();
  const host = await start({ folder, hooks: hooksOf({}) });
  const started = now();
  await host.open("s1");
  const ready = now();
  const rssMB = process.memoryUsage().rss / 1024 ** 2;
  await host.sendMessage("s1", "CHAT 1");
  return {
    importMs: loaded - from,
    startMs: started - loaded,
    openMs: ready - started,
    readyMs: ready - from,
    firstTurnMs: now() - ready,
    rssMB,
  };
}
