import { useMemo, useSyncExternalStore } from 'react';
import { percentDecodedIfValid } from '../../core/percent-decoded.ts';
import { randomId } from '../service/hub/random-id.ts';

export const panels = ['chat', 'approvals', 'timeline', 'statecharts', 'servers', 'health', 'keys'] as const;
export type Panel = (typeof panels)[number];

/** The panels that can stand beside the chat. */
export const companions = ['timeline', 'statecharts'] as const;
export type Companion = (typeof companions)[number];

/**
 * What the page shows. The hash of the URL has it, so every view can be linked:
 * `#/panel/session?beside=timeline&turn=…&event=12`.
 */
export interface Location {
  readonly panel: Panel;
  readonly sessionId: string;
  /** The panel beside the chat. */
  readonly beside?: Companion | undefined;
  /** The chosen turn: chat, timeline and statecharts mark it. */
  readonly turnId?: string | undefined;
  /** Seq of the chosen event. */
  readonly seq?: number | undefined;
  /** The timeline is a waterfall unless the list was chosen. */
  readonly view?: 'list' | undefined;
}

const DEFAULT_SESSION = 'default';

export function useLocation(): Location {
  const hash = useSyncExternalStore(subscribe, () => window.location.hash);
  return useMemo(() => parseHash(hash), [hash]);
}

function parseHash(hash: string): Location {
  const [path = '', query] = hash.replace(/^#\/?/, '').split('?');
  const [name, session] = path.split('/');
  const parameters = new URLSearchParams(query);
  const seq = Number(parameters.get('event'));
  return {
    panel: panels.find((candidate) => candidate === name) ?? 'chat',
    // A URL that was typed by hand may be badly encoded.
    sessionId: session ? percentDecodedIfValid(session) : DEFAULT_SESSION,
    beside: companions.find((candidate) => candidate === parameters.get('beside')),
    turnId: parameters.get('turn') ?? undefined,
    seq: Number.isInteger(seq) && seq > 0 ? seq : undefined,
    view: parameters.get('view') === 'list' ? 'list' : undefined,
  };
}

export function hrefOf({ panel, sessionId, beside, turnId, seq, view }: Location): string {
  const parameters = new URLSearchParams({
    ...(beside && { beside }),
    ...(turnId !== undefined && { turn: turnId }),
    ...(seq !== undefined && { event: String(seq) }),
    ...(view && { view }),
  });
  const query = parameters.size > 0 ? `?${parameters}` : '';
  return `#/${panel}/${encodeURIComponent(sessionId)}${query}`;
}

export function go(location: Location): void {
  window.location.hash = hrefOf(location);
}

export function newSessionId(): string {
  return randomId().slice(0, 8);
}

/** Changes a part of the location without a new entry in the history of the browser. */
export function adjust(change: Partial<Location>): void {
  const location = { ...parseHash(window.location.hash), ...change };
  window.history.replaceState(null, '', hrefOf(location));
  // The browser itself tells only of hashes that were navigated to.
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('hashchange', listener);
  return () => window.removeEventListener('hashchange', listener);
}
