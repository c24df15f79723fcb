import { useEffect, useState } from 'react';

const INTERVAL_MS = 250;

/** The time in milliseconds since the epoch. It goes on only while `isRunning`. */
export function useNow(isRunning: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isRunning) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), INTERVAL_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}
