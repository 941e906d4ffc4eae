import { restatePlacement, type RestateOptions } from "@cinch/restate";
import { hostPlacements } from "@cinch/testkit";

hostPlacements(async (options: RestateOptions) => restatePlacement(options));
