import type { StreamPosition } from './stream-position.ts';

export interface StreamWish {
  /** Of the service. */
  readonly base: string | URL;
  readonly session: string;
  /** Whether to be told what the model thinks aloud. */
  readonly reasoning: boolean;
}

/** Where a session is streamed from, after what the reader has. */
export function streamUrl({ base, session, reasoning }: StreamWish, { seq, offset }: StreamPosition): string {
  const url = new URL(base);
  url.protocol = url.protocol.replace(/^http/, 'ws');
  url.searchParams.set('session', session);
  url.searchParams.set('after', String(seq));
  if (offset > 0) url.searchParams.set('offset', String(offset));
  if (reasoning) url.searchParams.set('reasoning', '1');
  return url.href;
}
