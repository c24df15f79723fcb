const EVENT = 'agent-service:signed-out';

/** Tells the page that the service wants to know who it is. Workers have no page. */
export function tellSignedOut(error: Error): void {
  if (typeof window !== 'undefined') window.dispatchEvent(new CustomEvent(EVENT, { detail: error }));
}

/** @returns a function that unsubscribes. */
export function onSignedOut(listener: (error: Error) => void): () => void {
  const hear = (event: Event) => {
    if (event instanceof CustomEvent && event.detail instanceof Error) listener(event.detail);
  };
  window.addEventListener(EVENT, hear);
  return () => window.removeEventListener(EVENT, hear);
}
