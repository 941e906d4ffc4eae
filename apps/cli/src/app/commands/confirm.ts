import type { CommandContext } from "./command.ts";

/** The first choice does nothing, so that a hasty Enter does no harm. */
export async function confirm(context: CommandContext, title: string, yes: string): Promise<boolean> {
  const items = [
    { value: false, label: "No, leave it as it is" },
    { value: true, label: yes },
  ];
  return (await context.pick({ title, items })) ?? false;
}
