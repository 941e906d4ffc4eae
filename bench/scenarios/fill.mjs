/** Creates many threads of a few messages each. Measures nothing. */
export default async function fill({ threads, messages, start }) {
  const host = await start();
  await host.fill(threads, messages);
  await host.indexed();
  await host.close();
  return { threads };
}
