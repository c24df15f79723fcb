import type { StreamPosition } from './stream-position.ts';

export interface StreamTarget {
  /** Base URL of the service. */
  readonly base: URL;
  readonly session: string;
  /** Whether to stream the model's reasoning, too. */
  readonly reasoning: boolean;
  /** Whether durable events have their `time`. */
  readonly time: boolean;
  /** Whether to stream the states of all machines, too. */
  readonly statecharts: boolean;
}

/**
 * The address without its fragment, which a page may have.
 * @throws TypeError when it is not a URL of the web, or has a user or a password, which `fetch` refuses.
 */
export function webUrl(base: string | URL): URL {
  const url = new URL(base);
  if (!/^(https?|wss?):$/.test(url.protocol))
    throw new TypeError(`the url ${url.href} must begin with http:// or https://`);
  if (url.username !== '' || url.password !== '')
    throw new TypeError(`the url of ${url.host} must have no user and no password: use token`);
  url.hash = '';
  return url;
}

/** The WebSocket URL that streams a session, beginning after the position. */
export function streamUrl(
  { base, session, reasoning, time, statecharts }: StreamTarget,
  { seq, offset }: StreamPosition,
): string {
  const url = new URL(base);
  url.protocol = url.protocol.replace(/^http/, 'ws');
  url.searchParams.set('session', session);
  url.searchParams.set('after', String(seq));
  if (offset > 0) url.searchParams.set('offset', String(offset));
  if (reasoning) url.searchParams.set('reasoning', '1');
  if (time) url.searchParams.set('time', '1');
  if (statecharts) url.searchParams.set('statecharts', '1');
  return url.href;
}

/** The same address with a ticket, which stands for the token of the client. */
export function withTicket(address: string, ticket: string | null): string {
  const url = new URL(address);
  if (ticket !== null) url.searchParams.set('ticket', ticket);
  return url.href;
}

/** Where the service issues tickets. */
export function ticketsUrl(base: URL): string {
  const url = new URL(base);
  url.protocol = url.protocol.replace(/^ws/, 'http');
  url.pathname = `${url.pathname.replace(/\/$/, '')}/api/tickets`;
  url.search = '';
  return url.href;
}
