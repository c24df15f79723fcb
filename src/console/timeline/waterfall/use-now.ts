import { useEffect, useState } from 'react';
import { useFeed } from '../../service/use-session.ts';

const INTERVAL_MS = 250;

/** The time by the clock of the service, in milliseconds since the epoch. It goes on only while `isRunning`. */
export function useNow(isRunning: boolean): number {
  const feed = useFeed();
  const [now, setNow] = useState(feed.now);
  useEffect(() => {
    if (!isRunning) return undefined;
    setNow(feed.now());
    const timer = setInterval(() => setNow(feed.now()), INTERVAL_MS);
    return () => clearInterval(timer);
  }, [isRunning, feed]);
  return now;
}
