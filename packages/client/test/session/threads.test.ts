import { runOverHttp } from "./over-http.ts";

await runOverHttp(["thread/confined", "thread/deleting", "thread/list-changes", "thread/robust", "thread/threads"]);
