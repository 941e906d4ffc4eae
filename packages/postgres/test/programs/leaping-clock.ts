/** The wall clock of the process leaps by an hour, on or back, several times a second. */
const { now } = Date;
const HOUR_MS = 3_600_000;
let by = 0;
Date.now = () => now() + by;
setInterval(() => (by = by > 0 ? -HOUR_MS : HOUR_MS), 300).unref();
