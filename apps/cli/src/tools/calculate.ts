import { defineTool } from "@cinch/core";
import * as z from "zod";
import { evaluate } from "../arithmetic.ts";

export const calculate = defineTool({
  description:
    "Evaluates an arithmetic expression: + - * / % ^, brackets, sqrt, abs, round, ln, log, sin, cos, tan, pi.",
  category: "read",
  input: z.object({ expression: z.string() }),
  // Rounds away the error of floating-point numbers: 0.1 + 0.2 is 0.3.
  execute: ({ expression }) => String(Number(evaluate(expression).toPrecision(12))),
});
