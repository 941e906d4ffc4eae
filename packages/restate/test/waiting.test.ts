import { testWaiting } from "./waiting.ts";

testWaiting("graphile");
