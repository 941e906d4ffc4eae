/** Makes a thread of so many events past the product's own face, and opens it once. Nothing is measured but that first opening. */
export default async function written({ events, start, now }) {
  const host = await start();
  await host.write("s1", events);
  const from = now();
  await host.open("s1");
  const firstMs = now() - from;
  await host.close();
  return { firstMs };
}
