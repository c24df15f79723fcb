import { keptKey } from './kept-key.ts';

const EVENT = 'agent-service:signed-out';

/**
 * Tells the page that the service wants to know who it is. Workers have no page.
 * @param key that was refused, or null if the request had none. If the page no longer has this key, nothing is told: the
 * refusal came late, and says nothing about the present key.
 */
export function tellSignedOut(error: Error, key: string | null): void {
  if (typeof window === 'undefined' || keptKey() !== key) return;
  window.dispatchEvent(new CustomEvent(EVENT, { detail: error }));
}

/** @returns a function that unsubscribes. */
export function onSignedOut(listener: (error: Error) => void): () => void {
  const hear = (event: Event) => {
    if (event instanceof CustomEvent && event.detail instanceof Error) listener(event.detail);
  };
  window.addEventListener(EVENT, hear);
  return () => window.removeEventListener(EVENT, hear);
}
