/** Creates a thread of at least this many events through the API of the product. Measures nothing. */
export default async function long({ events, start }) {
  const host = await start();
  await host.open("s1");
  while (host.eventCount("s1") < events) await host.sendMessage("s1", "STEPS 3");
  const made = host.eventCount("s1");
  await host.close();
  return { events: made };
}
