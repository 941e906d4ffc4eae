import { aboutRoutes } from "./about-routes.ts";
import { eventRoutes } from "./event-routes.ts";
import { metricsRoute } from "./metrics-route.ts";
import type { Route } from "./route.ts";
import { commandRoutes } from "./command-routes.ts";
import { threadListRoutes } from "./thread-list-routes.ts";
import { queryRoutes } from "./query-routes.ts";

/** Every route of the server. */
export const routeTable: readonly Route[] = [
  ...aboutRoutes(() => routeTable),
  metricsRoute,
  ...threadListRoutes,
  ...queryRoutes,
  ...commandRoutes,
  ...eventRoutes,
];
