/** Whether each prompt begins with the bytes of the previous one, so that a provider can cache it. */
export default async function cache({ kind, n, start }) {
  const prompts = [];
  const host = await start({ onRequest: (blocks) => prompts.push(blocks.join("\n")) });
  await host.open("s1");
  if (kind === "steps") await host.sendMessage("s1", `STEPS ${n}`);
  else for (let i = 1; i <= n; i++) await host.sendMessage("s1", `CHAT ${i}`);
  const breaks = prompts.slice(1).filter((prompt, at) => !prompt.startsWith(prompts[at]));
  return { requests: prompts.length, breaks: breaks.length, lastPromptBytes: prompts.at(-1).length };
}
