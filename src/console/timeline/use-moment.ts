import { useEffect, useState } from 'react';
import type { SessionView } from '../../core/session/session-view.ts';
import { errorText } from '../service/api-error.ts';
import { getAgain } from '../service/get-again.ts';
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
  readonly view: SessionView;
}

const LOADING: Moment = { status: 'loading' };

/** The session as it was after the event. The past does not change, so it is loaded once. */
export function useMoment(sessionId: string, seq: number): Moment {
  const [known, setKnown] = useState<readonly Known[]>([]);
  /** Why there is no view of that event. */
  const [problem, setProblem] = useState<{ readonly seq: number; readonly reason: string } | null>(null);
  const view = known.find((one) => one.seq === seq)?.view;
  const isKnown = view !== undefined;
  useEffect(() => {
    if (isKnown) return undefined;
    const abort = new AbortController();
    const { signal } = abort;
    const tell = (trouble: { readonly message: string } | null) =>
      setProblem(trouble && { seq, reason: trouble.message });
    const timer = setTimeout(() => {
      const path = `${sessionPath(sessionId)}?at=${seq}`;
      getAgain<{ session: SessionView }>(path, signal, tell).then(
        ({ session }) => setKnown((others) => [...others.slice(1 - MAX_KEPT), { seq, view: session }]),
        (error: unknown) => signal.aborted || tell({ message: errorText(error) }),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [sessionId, seq, isKnown]);
  if (view) return { status: 'shown', view };
  return problem?.seq === seq ? { status: 'failed', reason: problem.reason } : LOADING;
}
