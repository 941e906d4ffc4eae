import type { CommandContext } from "./command.ts";

/** Goes to a thread. The turn of the thread that is left goes on in this process. */
export async function goToThread(context: CommandContext, enter: () => Promise<unknown>): Promise<void> {
  const { title, isRunning } = context.display();
  await enter();
  context.showThread();
  if (isRunning) context.say(`The turn in "${title}" goes on. /threads leads back to it.`);
}
