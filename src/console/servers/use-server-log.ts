import { useEffect, useState } from 'react';
import type { ServerLogLine } from '../../core/tool-server/server-log.ts';
import { get } from '../service/api.ts';
import { errorText } from '../service/api-error.ts';
import { serverPath } from '../service/paths.ts';
import { poll } from '../service/poll.ts';
import { joined } from './log-lines.ts';

/** The service limits the requests per minute. */
const INTERVAL_MS = 3_000;

export interface ServerLogView {
  /** Null before the first answer. */
  readonly lines: readonly ServerLogLine[] | null;
  readonly problem: string | null;
}

/** The log of a server while `isShown`: read every three seconds while the page is visible. */
export function useServerLog(serverId: string, isShown: boolean): ServerLogView {
  const [view, setView] = useState<ServerLogView>({ lines: null, problem: null });
  useEffect(() => {
    if (!isShown) return undefined;
    let lines: readonly ServerLogLine[] | null = null;
    return poll(INTERVAL_MS, async (signal) => {
      const path = `${serverPath(serverId)}/logs?after=${lines?.at(-1)?.seq ?? 0}`;
      try {
        const news = (await get<{ lines: ServerLogLine[] }>(path, signal)).lines;
        if (lines === null || news.length > 0) lines = joined(lines ?? [], news);
        setView({ lines, problem: null });
      } catch (error) {
        if (!signal.aborted) setView({ lines, problem: errorText(error) });
      }
    });
  }, [serverId, isShown]);
  return view;
}
