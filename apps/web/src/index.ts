/** The files of the web page, for `createServer({ page })`. */
export { webPage, type WebPage } from "./web-page.ts";
