import { usePolled } from '../service/use-polled.ts';

/** `/api/health` counts against the rate limit of the address. */
const INTERVAL_MS = 20_000;

export interface LogSize {
  /** 0 if the log is in memory. */
  readonly bytes: number;
  readonly events: number;
}

/** How large the event log is. Null while it is not known. */
export function useLogSize(): LogSize | null {
  return usePolled<{ log?: LogSize }>('/api/health', INTERVAL_MS)?.log ?? null;
}
