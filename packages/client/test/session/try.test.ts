import process from "node:process";
import { runOverHttp } from "./over-http.ts";
runOverHttp();
for (const file of (process.env["FILES"] ?? "").split(",")) await import(`../../../core/test/${file}.test.ts`);
