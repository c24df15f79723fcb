import { z } from 'zod';
import type { RequestContext } from '../../../core/request/request-context.ts';
import type { Unsubscribe } from '../../../ports/bus.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { HttpResponse } from '../../../ports/web-server.ts';
import type { ServedRequest } from '../../http/http-message.ts';
import { unlessRefusedOrLeft } from '../../security/held-session.ts';
import { HEARTBEAT_MS } from '../../sse/event-stream.ts';
import { CHAT_TOOL_NAME } from '../agent/chat-tool-name.ts';
import { requirePlace, type TakenPlaces } from '../client-shares.ts';
import type { McpBody } from '../json-rpc-body.ts';
import type { LazyMcp, LoadedMcp } from '../lazy-mcp.ts';
import { authInfoOf } from '../mcp-asker.ts';
import { fromWebResponse, webRequest } from '../mcp-exchange.ts';
import { streamedIfLate } from './late-answer.ts';
import { cancelledByLeaving } from './leaving.ts';
import { LISTEN, listenedResources, watchResources } from './listened-resources.ts';
import { changeBus } from './surface-changes.ts';

const Method = z.object({ method: z.string() });
const Turn = z.object({
  method: z.literal('tools/call'),
  params: z.object({ name: z.literal(CHAT_TOOL_NAME) }),
});

const SUBSCRIPTIONS = {
  name: 'mcpSubscriptions',
  what: 'MCP subscriptions',
  suggestion: 'Close the streams of subscriptions that you no longer need.',
  message: 'Too many MCP subscriptions are open.',
  reason: 'too many MCP subscriptions are open',
};

/** The requests of clients from 2026-07-28 on. Each says all that it needs, so any node answers it. */
export class StatelessMcp implements Disposable {
  readonly #mcp: LazyMcp;
  readonly #log: Logger;
  /** Who has the subscriptions that are open. */
  readonly #subscribers = new Set<TakenPlaces>();
  #isStopping = false;

  constructor(mcp: LazyMcp, log: Logger) {
    this.#mcp = mcp;
    this.#log = log;
  }

  async handle(request: ServedRequest, body: McpBody): Promise<HttpResponse> {
    const { context, credential } = request;
    const method = Method.safeParse(body.json).data?.method;
    const isSubscription = method === LISTEN;
    const leave = isSubscription ? this.#enter(context) : () => undefined;
    let unwatch: Unsubscribe = () => undefined;
    let isOver = false;
    // Called again by the answer if its client was refused while it was made.
    const onOver = (): void => {
      isOver = true;
      unwatch();
      leave();
    };
    const answered = async (): Promise<HttpResponse> => {
      const mcp = await this.#mcp.load();
      const watcher = { surface: mcp.surface, context, log: this.#log };
      if (isSubscription && !isOver) unwatch = watchResources(listenedResources(body.json), watcher);
      const response = await this.#answer(mcp, { request, body });
      const lost = credential?.lost;
      const isLeft = (reason: unknown): boolean =>
        this.#isStopping || (lost?.aborted === true && reason === lost.reason);
      const answer = isSubscription ? response : cancelledByLeaving(response, isLeft);
      return fromWebResponse(answer, { onOver, lost, body });
    };
    try {
      // A call may take long before it answers with one message, without a stream.
      return await unlessRefusedOrLeft(answered(), { credential });
    } catch (error) {
      onOver();
      throw error;
    }
  }

  #answer({ sdk, serverFor, surface }: LoadedMcp, { request, body }: Asked): Promise<Response> {
    const { context } = request;
    const server = serverFor({ era: 'modern', context, isLasting: false });
    const cancel = (): void => {
      server.close().catch((err: unknown) => this.#log.debug({ err }, 'a call could not be cancelled'));
    };
    // A call that has told nothing yet has no stream that its client could close.
    request.onLeft?.(() => {
      if (!this.#isStopping) cancel();
    });
    const handler = sdk.createMcpHandler(() => server, {
      legacy: 'reject',
      // A turn may take long: its client gets the head of the answer at once, and is told of the end of its credential.
      responseMode: isTurn(body.json) ? 'sse' : 'auto',
      bus: changeBus(surface, context),
      keepAliveMs: HEARTBEAT_MS,
      onerror: (err) => this.#log.debug({ err }, 'an MCP request could not be handled'),
    });
    const answer = handler.fetch(webRequest(request, body.text), {
      parsedBody: body.json,
      ...authInfoOf(request),
    });
    return streamedIfLate(answer, cancel);
  }

  /** @returns how the subscription leaves. Throws if there are too many. */
  #enter(context: RequestContext): () => void {
    requirePlace(context, [...this.#subscribers], SUBSCRIPTIONS);
    const subscriber = { context, places: 1 };
    this.#subscribers.add(subscriber);
    return () => void this.#subscribers.delete(subscriber);
  }

  /** The web server cuts the streams. That is no cancellation: the running turns continue after the next start. */
  [Symbol.dispose](): void {
    this.#isStopping = true;
  }
}

function isTurn(body: unknown): boolean {
  return Turn.safeParse(body).success;
}

interface Asked {
  readonly request: ServedRequest;
  readonly body: McpBody;
}
