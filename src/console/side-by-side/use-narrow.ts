import { useSyncExternalStore } from 'react';

/** Below this width, chat and companion do not fit beside each other. */
const narrow = window.matchMedia('(max-width: 900px)');

export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => narrow.matches);
}

function subscribe(listener: () => void): () => void {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
}
