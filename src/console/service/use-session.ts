import { createContext, useContext, useSyncExternalStore } from 'react';
import type { FeedSnapshot, SessionFeed } from './session-feed.ts';

export const FeedContext = createContext<SessionFeed | null>(null);

/** The feed of the open session. */
export function useFeed(): SessionFeed {
  const feed = useContext(FeedContext);
  if (!feed) throw new Error('there is no FeedContext around this component');
  return feed;
}

export function useFeedSnapshot(): FeedSnapshot {
  const feed = useFeed();
  return useSyncExternalStore(feed.subscribe, feed.snapshot);
}
