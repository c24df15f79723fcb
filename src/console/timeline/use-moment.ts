import { useEffect, useState } from 'react';
import type { SessionView } from '../../core/session/session-view.ts';
import { get } from '../service/api.ts';
import { errorText } from '../service/api-error.ts';
import { sessionPath } from '../service/paths.ts';

/** A held arrow key passes many events. Only the event where it stops is loaded. */
const PAUSE_MS = 150;
const MAX_KEPT = 50;

export type Moment =
  | { readonly status: 'loading' }
  | { readonly status: 'shown'; readonly view: SessionView }
  | { readonly status: 'failed'; readonly reason: string };

interface Known {
  readonly seq: number;
  readonly moment: Moment;
}

const LOADING: Moment = { status: 'loading' };

/** The session as it was after the event. The past does not change, so it is loaded once. */
export function useMoment(sessionId: string, seq: number): Moment {
  const [known, setKnown] = useState<readonly Known[]>([]);
  const found = known.find((one) => one.seq === seq)?.moment;
  const isKnown = found !== undefined;
  useEffect(() => {
    if (isKnown) return undefined;
    const abort = new AbortController();
    const keep = (moment: Moment) => {
      if (!abort.signal.aborted) setKnown((others) => [...others.slice(1 - MAX_KEPT), { seq, moment }]);
    };
    const timer = setTimeout(() => {
      const path = `${sessionPath(sessionId)}?at=${seq}`;
      get<{ session: SessionView }>(path, abort.signal).then(
        ({ session }) => keep({ status: 'shown', view: session }),
        (error: unknown) => keep({ status: 'failed', reason: errorText(error) }),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [sessionId, seq, isKnown]);
  return found ?? LOADING;
}
