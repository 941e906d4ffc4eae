import { aboutRoutes } from "./about-routes.ts";
import { eventRoutes } from "./event-routes.ts";
import type { Route } from "./route.ts";
import { commandRoutes } from "./command-routes.ts";
import { threadListRoutes } from "./thread-list-routes.ts";
import { queryRoutes } from "./query-routes.ts";

/** Every route of the server. */
export const routeTable: readonly Route[] = [
  ...aboutRoutes(() => routeTable),
  ...threadListRoutes,
  ...queryRoutes,
  ...commandRoutes,
  ...eventRoutes,
];
