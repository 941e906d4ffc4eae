/** Writes a thread of this many events directly to the store, and measures its first opening. */
export default async function written({ events, start, now }) {
  const host = await start();
  await host.write("s1", events);
  const from = now();
  await host.open("s1");
  const firstMs = now() - from;
  await host.close();
  return { firstMs };
}
