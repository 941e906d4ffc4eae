import { runOverHttp } from "./over-http.ts";

await runOverHttp(["queries/inputs-events-files", "queries/pending", "queries/settled"]);
