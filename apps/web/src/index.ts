/** The files of the web page, for `createServer({ page })`, and the story of the tour that it shows. */
export { TOUR_REQUEST, tourChapter, type TourChapter, type TourDisplay } from "./tour-chapter.ts";
export { webPage, type WebPage } from "./web-page.ts";
