import { createHmac } from 'node:crypto';
import type { RequestContext } from '../../../core/request/request-context.ts';
import { nodeTopic, type Peers } from '../../../ports/peers.ts';
import { parseJson } from '../../requests/json-text.ts';

/** Told with the id of the session. */
const ENDED = nodeTopic<string>('mcp-session.ended');
/** Told with the id of the session and the body of the notification. */
const CANCELLED = nodeTopic<readonly [string, string]>('mcp-call.cancelled');
/** An id is a UUID: all but its last part is random. */
const RANDOM_LENGTH = 24;
const MARK_LENGTH = 12;
const CANCELLATION = 'notifications/cancelled';
const LATEST_VERSION = '2025-11-25';

interface Hears {
  readonly ended: (id: string) => void;
  readonly cancelled: (id: string, body: string) => void;
}

/** The MCP sessions of the other nodes. A client may send each of its requests to another node. */
export class McpPeers {
  readonly #peers: Peers;

  constructor(peers: Peers, { ended, cancelled }: Hears) {
    this.#peers = peers;
    peers.onTold(ENDED, ended);
    peers.onTold(CANCELLED, ([id, body]) => cancelled(id, body));
  }

  /** An id by which every node knows whose session it is. */
  newId(client: RequestContext): string {
    const random = crypto.randomUUID().slice(0, RANDOM_LENGTH);
    return random + this.#markOf(random, client);
  }

  /** Whether a node has begun the session for this client. It may have ended since. */
  mayHave(id: string, client: RequestContext): boolean {
    return id.slice(RANDOM_LENGTH) === this.#markOf(id.slice(0, RANDOM_LENGTH), client);
  }

  #markOf(random: string, { tenant, principal, agent }: RequestContext): string {
    const text = JSON.stringify([random, tenant, principal, agent]);
    return createHmac('sha256', this.#peers.clusterId).update(text).digest('hex').slice(0, MARK_LENGTH);
  }

  /** The client has ended the session. */
  end(id: string): void {
    this.#peers.tell(ENDED, id);
  }

  /** The call that a client cancels may run on any node. */
  noteBody(id: string, body: string): void {
    if (body.includes(CANCELLATION) && isCancellation(body)) this.#peers.tell(CANCELLED, [id, body]);
  }
}

/** Whether that is all that the body is: a node that hears it does what it says. */
function isCancellation(body: string): boolean {
  try {
    const message = parseJson(body);
    return (
      typeof message === 'object' &&
      message !== null &&
      'method' in message &&
      message.method === CANCELLATION
    );
  } catch {
    // The transport says what is wrong with it.
    return false;
  }
}

/** What the client has said at the other node, as far as it matters here. */
export function initialization(protocolVersion = LATEST_VERSION): Request {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'known-elsewhere', version: '0' } };
  return post({}, JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }));
}

/** A notification that came to another node. */
export function notification(sessionId: string, body: string): Request {
  return post({ 'mcp-session-id': sessionId }, body);
}

function post(headers: Record<string, string>, body: string): Request {
  const accept = 'application/json, text/event-stream';
  return new Request('http://service/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept, ...headers },
    body,
  });
}
