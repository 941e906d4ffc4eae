import { testWaiting } from "../waiting.ts";

testWaiting("restate", { count: 10_000 });
