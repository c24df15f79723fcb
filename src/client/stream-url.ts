import type { StreamPosition } from './stream-position.ts';

/** Where a session is streamed from, after what the reader has. */
export function streamUrl(base: string | URL, session: string, { seq, offset }: StreamPosition): string {
  const url = new URL(base);
  url.protocol = url.protocol.replace(/^http/, 'ws');
  url.searchParams.set('session', session);
  url.searchParams.set('after', String(seq));
  if (offset > 0) url.searchParams.set('offset', String(offset));
  return url.href;
}
