import type { JsonObject } from '../../../core/tool-server/server-peer.ts';
import type { PassedRequest, PassedRequestOptions, ToolServerEvents } from '../../../ports/tool-server.ts';
import { maskedObject } from '../failure/masked-error.ts';
import type { Mask } from '../failure/secret-mask.ts';
import type { RequestId, RpcNotification } from '../peer/rpc-message.ts';
import { RpcPeer } from '../peer/rpc-peer.ts';
import { type ActiveCall, ActiveCalls } from '../questions/active-calls.ts';
import { type Answers, clientCapabilities } from '../questions/answers.ts';
import { ServerQuestions } from '../questions/server-questions.ts';
import type { ServerTransport } from '../server-transport.ts';
import { progressOf } from './progress.ts';
import { withMeta } from './request-meta.ts';
import { initializedServer, SESSION_VERSIONS, type ServerHello } from './server-hello.ts';
import { logNote, type Shown, shownWith } from './server-notes.ts';

/** The largest delay that a Node timer takes. */
const LONGEST_TIMER_MS = 2_147_483_647;

export interface McpClientDeps {
  readonly transport: ServerTransport;
  readonly mask: Mask;
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly answers: Answers;
  readonly events: Omit<ToolServerEvents, 'onClosed'>;
}

export interface ClientRequestOptions extends PassedRequestOptions {
  /** Longest wait for the answer, or for progress. */
  readonly timeoutMs: number;
}

/** Speaks MCP with one server. Results and errors are as they came. */
export class McpClient {
  onclosed?: () => void;
  onerror?: (error: Error) => void;
  readonly #deps: McpClientDeps;
  readonly #peer: RpcPeer;
  readonly #calls = new ActiveCalls();
  readonly #questions: ServerQuestions;
  readonly #shown: Shown;

  constructor(deps: McpClientDeps) {
    this.#deps = deps;
    this.#shown = shownWith(deps.mask);
    this.#questions = new ServerQuestions({
      calls: this.#calls,
      shown: this.#shown,
      tell: (note) => deps.events.onNote(note),
    });
    this.#peer = new RpcPeer(deps.transport, {
      onRequest: (request, about, signal) => this.#questions.answer(request, about, signal),
      onNotification: (notification, about) => this.#hear(notification, about),
      onLateAnswer: (id) => this.#calls.remove(id),
      onError: (error) => this.onerror?.(error),
      onClosed: () => this.#end(),
    });
  }

  /** True while the server works on a call. */
  get isBusy(): boolean {
    return this.#calls.size > 0;
  }

  /** Starts the transport and makes the handshake. It has no time-out of its own. */
  async connect(): Promise<ServerHello> {
    const { transport, clientInfo, answers } = this.#deps;
    await transport.start();
    const params = {
      protocolVersion: SESSION_VERSIONS[0],
      capabilities: clientCapabilities(answers),
      clientInfo,
    };
    const hello = initializedServer(
      await this.request({ method: 'initialize', params }, { timeoutMs: LONGEST_TIMER_MS }),
    );
    transport.setProtocolVersion?.(hello.version);
    await this.#peer.notify('notifications/initialized');
    return hello;
  }

  async request({ method, params }: PassedRequest, options: ClientRequestOptions): Promise<JsonObject> {
    const id = this.#peer.newId();
    const { timeoutMs, signal, trace, onProgress } = options;
    const isCall = mayTalkBack(method);
    const ended = new AbortController();
    if (isCall) this.#calls.add(id, callOf(options, ended.signal));
    let isAbandoned = false;
    try {
      const progressToken = isCall || onProgress ? id : undefined;
      return await this.#peer.request(
        { id, method, params: withMeta(params, { trace, progressToken }) },
        {
          timeoutMs,
          ...(signal && { signal }),
          onProgress: (progress) => this.#tellProgress(progress, onProgress),
          onAbandoned: () => {
            isAbandoned = isCall;
          },
        },
      );
    } finally {
      ended.abort();
      if (isAbandoned) this.#calls.abandon(id);
      else this.#calls.remove(id);
    }
  }

  #tellProgress(params: JsonObject, tell: ClientRequestOptions['onProgress']): void {
    const progress = tell && progressOf(params, this.#deps.mask);
    if (progress) tell?.(progress);
  }

  #hear({ method, params = {} }: RpcNotification, about: RequestId | undefined): void {
    const { events, mask } = this.#deps;
    if (method === 'notifications/message') {
      events.onNote(logNote(params, this.#shown));
      this.#calls.callOf(about)?.onLog?.(maskedObject(params, mask));
    } else if (method === 'notifications/tools/list_changed') events.onToolsChanged();
    else if (concernsClients(method)) events.onNotification?.({ method, params });
  }

  #end(): void {
    this.#calls.clear();
    this.onclosed?.();
  }
}

function callOf({ onQuestion, onLog }: ClientRequestOptions, ended: AbortSignal): ActiveCall {
  return { onQuestion, onLog, ended };
}

/** Whether a server may ask or log something because of such a request. A list or a ping gives no reason to. */
function mayTalkBack(method: string): boolean {
  return !/^(?:initialize|ping|server\/discover|logging\/setLevel|subscriptions\/.*|.*\/(?:list|subscribe|unsubscribe))$/.test(
    method,
  );
}

function concernsClients(method: string): boolean {
  return /^notifications\/(?:resources|prompts|elicitation)\//.test(method);
}
