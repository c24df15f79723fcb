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
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
