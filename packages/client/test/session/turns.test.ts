import { runOverHttp } from "./over-http.ts";

await runOverHttp(["tools/preview", "tools/questions", "tools/tasks", "turn/turn", "turn/turn-result"]);
