import { aboutRoutes } from "./about.ts";
import { eventRoutes } from "./event-routes.ts";
import type { Route } from "./route.ts";
import { threadCommands } from "./thread-commands.ts";
import { threadList } from "./thread-list.ts";
import { threadQueries } from "./thread-queries.ts";

/** Every route of the server. */
export const routeTable: readonly Route[] = [
  ...aboutRoutes(() => routeTable),
  ...threadList,
  ...threadQueries,
  ...threadCommands,
  ...eventRoutes,
];
