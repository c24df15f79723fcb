import { useMemo } from 'react';
import { useFeedSnapshot } from '../../service/use-session.ts';
import { lastTurnIn } from '../past/past-turns.ts';
import { type LiveMoment, lastMomentOf } from './live-moment.ts';

/** How the last turn of the session ended, from its log: for a page that was opened after the turn. */
export function useLastTurn(isWanted: boolean): LiveMoment | null {
  const { events } = useFeedSnapshot();
  return useMemo(() => {
    const turn = isWanted ? lastTurnIn(events) : undefined;
    return turn ? lastMomentOf(turn) : null;
  }, [isWanted, events]);
}
