/** One long answer: the cost of a text delta from the model to a subscriber. */
export default async function deltas({ n, start, now }) {
  const host = await start();
  await host.open("s1");
  await host.sendMessage("s1", "DELTAS 500");
  let seen = 0;
  host.subscribe("s1", (event) => {
    if (host.isDelta(event)) seen++;
  });
  const cpu = process.cpuUsage();
  const from = now();
  const { text } = await host.sendMessage("s1", `DELTAS ${n}`);
  const ms = now() - from;
  const { user, system } = process.cpuUsage(cpu);
  const displayed = host.displayedText?.("s1") ?? text;
  if (text.length !== 4 * n || displayed !== text) throw new Error("the text is not what the model said");
  return {
    usPerDelta: (ms * 1000) / n,
    cpuUsPerDelta: (user + system) / n,
    eventsPerDelta: seen / n,
    peakRssMB: process.resourceUsage().maxRSS / 1024,
  };
}
