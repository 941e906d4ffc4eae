import process from "node:process";
import { testWaiting } from "./waiting.ts";

testWaiting("graphile", { count: process.env["TEST_WHOLE"] === undefined ? 3_000 : 10_000 });
