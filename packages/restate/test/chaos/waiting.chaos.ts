import { testWaiting } from "../waiting.ts";

testWaiting("restate");
