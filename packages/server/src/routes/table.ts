import { aguiRoutes } from "../adapters/ag-ui/agui-routes.ts";
import { chatRoutes } from "../adapters/ai-sdk/chat-routes.ts";
import { aboutRoutes } from "./about-routes.ts";
import { eventRoutes } from "./event-routes.ts";
import type { AdapterName, Route } from "./route.ts";
import { metricsRoute } from "./metrics-route.ts";
import { commandRoutes } from "./command-routes.ts";
import { threadListRoutes } from "./thread-list-routes.ts";
import { queryRoutes } from "./query-routes.ts";

/** Every route that a server can have. */
export const routeTable: readonly Route[] = [
  ...aboutRoutes,
  metricsRoute,
  ...threadListRoutes,
  ...queryRoutes,
  ...commandRoutes,
  ...eventRoutes,
  ...chatRoutes,
  ...aguiRoutes,
];

/** The routes of a server with these adapters. */
export const routesWith = (adapters: readonly AdapterName[]): readonly Route[] =>
  routeTable.filter(({ adapter }) => adapter === undefined || adapters.includes(adapter));
