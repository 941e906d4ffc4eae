/** What was probably meant by a misspelt name, alone: for programs that must start at once. */
export { nearest } from "./config/nearest.ts";
