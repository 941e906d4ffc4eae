import { randomInt } from "node:crypto";
import { defineTool } from "@cinch/core";
import * as z from "zod";

export const rollDice = defineTool({
  description: "Rolls dice.",
  effect: "once",
  input: z.object({ count: z.int().min(1).max(100).default(1), sides: z.int().min(2).max(1_000).default(6) }),
  execute({ count, sides }) {
    const rolls = Array.from({ length: count }, () => randomInt(1, sides + 1));
    const total = rolls.reduce((sum, roll) => sum + roll, 0);
    return { content: count === 1 ? String(total) : `${rolls.join(" + ")} = ${total}`, details: { rolls, total } };
  },
});
