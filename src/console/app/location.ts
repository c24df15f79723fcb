import { useSyncExternalStore } from 'react';

export const panels = ['chat', 'approvals', 'timeline', 'statecharts', 'servers', 'health'] as const;
export type Panel = (typeof panels)[number];

/** The open panel and session. The hash of the URL has them as `#/panel/session`. */
export interface Location {
  readonly panel: Panel;
  readonly sessionId: string;
}

const DEFAULT_SESSION = 'default';

export function useLocation(): Location {
  const hash = useSyncExternalStore(subscribe, () => window.location.hash);
  return parseHash(hash);
}

function parseHash(hash: string): Location {
  const [name, session] = hash.replace(/^#\/?/, '').split('/');
  const panel = panels.find((candidate) => candidate === name) ?? 'chat';
  return { panel, sessionId: session ? decode(session) : DEFAULT_SESSION };
}

/** A URL that was typed by hand may be badly encoded. Its text is then used unchanged. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export function hrefOf({ panel, sessionId }: Location): string {
  return `#/${panel}/${encodeURIComponent(sessionId)}`;
}

export function go(location: Location): void {
  window.location.hash = hrefOf(location);
}

/** Not `crypto.randomUUID`, which browsers have only on secure origins. */
export function newSessionId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(4)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('hashchange', listener);
  return () => window.removeEventListener('hashchange', listener);
}
