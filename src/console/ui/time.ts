/** The time of day in the reader's time zone, such as `14:03:27`. */
export function clockTime(iso: string): string {
  return new Date(iso).toLocaleTimeString();
}

/** The time between two ISO 8601 times, as `span` shows it. */
export function duration(from: string, to: string): string {
  return span(Math.max(0, Date.parse(to) - Date.parse(from)));
}

/** Such as `340 ms`, `2.4 s`, `3 min 5 s` or `2 h 7 min`. */
export function span(ms: number): string {
  // Each unit is rounded before it is compared: 59,960 ms are a minute, and not 60.0 s.
  const whole = Math.round(ms);
  if (whole < 1_000) return `${whole} ms`;
  const tenths = Math.round(ms / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(ms / 60_000);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
