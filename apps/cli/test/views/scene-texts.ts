/** Texts that scenes show. */
export const DIFF = `@@ -11,3 +11,3 @@
 export function sum(n: number) {
-  for (let i = 1; i < n; i++)
+  for (let i = 0; i < n; i++)
     total += i;
`;
export const LONG_DIFF = `@@ -1,30 +1,30 @@\n${Array.from({ length: 30 }, (_, at) => `-old line ${at}\n+new line ${at}`).join("\n")}\n`;
export const OUTPUT = Array.from({ length: 41 }, (_, at) => `ok ${at + 1} - a test`).join("\n");
export const PLAN = { title: "Fix the sum", plan: "1. fix" };
