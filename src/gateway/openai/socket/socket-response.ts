import { z } from 'zod';
import type { ClientSocket } from '../../../ports/client-socket.ts';
import { optional } from '../../../wire/requests.ts';
import { parseForeign } from '../../requests/request-fields.ts';
import type { KnownClient } from '../../security/handshake.ts';
import type { FollowedSession } from '../../stream/followed-session.ts';
import { withModel } from '../chosen-agent.ts';
import type { AskedResponse, BegunResponse } from '../responses/asked-response.ts';
import { readResponse } from '../responses/response-feed.ts';
import { ResponseRequest } from '../responses/response-request.ts';
import { beginResponse } from '../responses/response-turn.ts';
import type { TurnResponses } from '../responses/turn-responses.ts';
import { abandon, forget, type ResponsesDeps } from '../responses/whole-response.ts';

/** What a client sends: the body of `POST /v1/responses`, and a type. */
const CreateFrame = ResponseRequest.extend({
  type: z.literal('response.create', 'must be response.create'),
  background: optional(z.literal(false, 'is not supported over WebSocket')),
  generate: optional(z.literal(true, 'is not supported: each response has a reply')),
  stream_id: optional(z.never('is not supported: a connection tells one response after the other')),
});

/** A response that is told over a socket. */
export class SocketResponse {
  readonly #deps: ResponsesDeps;
  readonly #asked: AskedResponse;
  readonly #begun: BegunResponse;
  #feed: FollowedSession | null = null;
  /** What was told, if all of it was. */
  #told: TurnResponses | null = null;
  #release: () => void = () => undefined;

  private constructor(deps: ResponsesDeps, asked: AskedResponse, begun: BegunResponse) {
    this.#deps = deps;
    this.#asked = asked;
    this.#begun = begun;
  }

  /** Rejects if the request is refused. */
  static async begin(
    deps: ResponsesDeps,
    { context: client, prefix }: KnownClient,
    frame: object,
  ): Promise<SocketResponse> {
    const { bus, maxImageBytes } = deps;
    const body = parseForeign(CreateFrame, frame);
    const context = await withModel(bus, { context: client, prefix }, body.model);
    // Without headers: a frame has no idempotency key.
    const request = { headers: new Map<string, string>() };
    const asked = { bus, context, request, body, agentId: body.model, key: undefined, maxImageBytes };
    return new SocketResponse(deps, asked, await beginResponse(asked));
  }

  /** Sends an event a frame. Resolves when nothing follows, or nothing is wanted. */
  async tell(socket: ClientSocket): Promise<void> {
    const { context } = this.#asked;
    this.#told = await new Promise<TurnResponses | null>((resolve, reject) => {
      this.#release = () => resolve(null);
      this.#feed = readResponse({ ...this.#deps, context }, this.#begun, {
        sink: { send: (text) => sendLines(socket, text), bufferedBytes: () => socket.bufferedBytes() },
        // JSON has no line breaks.
        encode: (_type, json) => `${json}\n`,
        onOver: resolve,
        onError: reject,
        onGivenUp: reject,
      });
    });
    this.#feed = null;
  }

  /** Deletes what the client does not want to be stored, once all is told. */
  async forget(): Promise<void> {
    if (this.#told) await forget(this.#deps, this.#asked, this.#begun, this.#told);
  }

  drained(): void {
    this.#feed?.drained();
  }

  /** Throws if the client may not hear the session any more. */
  check(): void {
    this.#deps.bus.recheck(this.#begun.place.sessionId, this.#asked.context);
  }

  /** The turn goes on, and nobody is told. */
  stop(): void {
    this.#feed?.stop();
    this.#release();
  }

  /** The client went away: its response ends. */
  abandon(): void {
    this.stop();
    abandon(this.#asked, this.#begun);
  }
}

/** False if the socket buffers the last line. */
function sendLines(socket: ClientSocket, lines: string): boolean {
  let isTaken = true;
  for (const line of lines.split('\n')) if (line !== '') isTaken = socket.send(line);
  return isTaken;
}
