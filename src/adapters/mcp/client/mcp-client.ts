import type { JsonObject } from '../../../core/json-object.ts';
import { MAX_TIMEOUT_MS } from '../../../core/timeout-ms.ts';
import type {
  ForwardedRequest,
  ForwardedRequestOptions,
  ToolServerEvents,
} from '../../../ports/tool-server.ts';
import { maskedObject } from '../failure/masked-error.ts';
import type { Mask } from '../failure/secret-mask.ts';
import type { RequestId, RpcNotification } from '../peer/rpc-message.ts';
import { RpcPeer } from '../peer/rpc-peer.ts';
import { type ActiveCall, ActiveCalls } from '../questions/active-calls.ts';
import { type Answers, clientCapabilities } from '../questions/answers.ts';
import { afterVisits } from '../questions/required-visits.ts';
import { ServerQuestions } from '../questions/server-questions.ts';
import type { ServerTransport } from '../server-transport.ts';
import { ChangeSubscription } from './change-subscription.ts';
import { inRounds } from './input-rounds.ts';
import { greet, isOlderAnswer, offersStateless } from './negotiation.ts';
import { progressOf } from './progress.ts';
import { requestHeaders } from './request-headers.ts';
import { type ClientInfo, type Envelope, withMeta } from './request-meta.ts';
import {
  discoveredServer,
  initializedServer,
  SESSION_VERSIONS,
  type ServerHello,
  STATELESS_VERSION,
  toldChanges,
} from './server-hello.ts';
import { logNote, type Shown, shownWith } from './server-notes.ts';

/** Whoever connects has a time-out for everything together. */
const HANDSHAKE = { timeoutMs: MAX_TIMEOUT_MS };

export interface McpClientDeps {
  readonly transport: ServerTransport;
  readonly mask: Mask;
  readonly clientInfo: ClientInfo;
  readonly answers: Answers;
  readonly events: Omit<ToolServerEvents, 'onClosed'>;
}

export interface ClientRequestOptions extends ForwardedRequestOptions {
  /** Longest wait for the answer, or for progress. It does not run while a question of the server is answered. */
  readonly timeoutMs: number;
  /** More headers, where there are any. */
  readonly headers?: Readonly<Record<string, string>>;
  /** If people must open an address before the server can answer, they are asked to, and the request is made again. */
  readonly asksForVisits?: boolean;
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
  #isProbing = false;
  /** The revision of a stateless server. */
  #stateless: string | null = null;
  #subscription: ChangeSubscription | null = null;

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

  /** True while the server has been asked in the newest way, and has not answered. */
  get isProbing(): boolean {
    return this.#isProbing;
  }

  /** Starts the transport and makes the handshake. It has no time-out of its own. */
  async connect({ probes }: { readonly probes: boolean }): Promise<ServerHello> {
    await this.#deps.transport.start();
    const hello = probes ? await this.#greet() : await this.#initialize();
    if (hello.era === 'stateless') this.#beStateless(hello);
    return hello;
  }

  async request(request: ForwardedRequest, options: ClientRequestOptions): Promise<JsonObject> {
    if (this.#subscription && this.#watched(this.#subscription, request)) return {};
    const { signal, onQuestion } = options;
    const ended = new AbortController();
    const end = (): void => ended.abort(new Error('the call was cancelled'));
    signal?.addEventListener('abort', end, { once: true });
    const call = { onQuestion, onLog: options.onLog, ended: ended.signal };
    const sendOnce = (next: ForwardedRequest) => this.#send(next, options, call);
    const visit = (params: JsonObject) => this.#questions.ask({ method: 'elicitation/create', params }, call);
    const send = options.asksForVisits
      ? (next: ForwardedRequest) => afterVisits(() => sendOnce(next), visit)
      : sendOnce;
    try {
      if (this.#stateless === null || options.passesInput) return await send(request);
      const answer = (question: ForwardedRequest, cancelled: AbortSignal) =>
        this.#questions.fulfil(question, call, cancelled);
      return await inRounds(request, { send, answer, signal: ended.signal });
    } finally {
      signal?.removeEventListener('abort', end);
      end();
    }
  }

  async #greet(): Promise<ServerHello> {
    const greetings = { discover: () => this.#discover(), initialize: () => this.#initialize() };
    return await greet(greetings, this.#deps.transport.hasRequestStreams !== true);
  }

  async #discover(isRepeated = false): Promise<ServerHello | null> {
    const request = { method: 'server/discover', params: {} };
    this.#isProbing = true;
    try {
      const result = await this.#send(request, HANDSHAKE, undefined, STATELESS_VERSION);
      this.#isProbing = false;
      return discoveredServer(result);
    } catch (error) {
      if (!isOlderAnswer(error)) throw error;
      this.#isProbing = false;
      return offersStateless(error) && !isRepeated ? await this.#discover(true) : null;
    }
  }

  async #initialize(): Promise<ServerHello> {
    const { transport, clientInfo, answers } = this.#deps;
    const capabilities = clientCapabilities(answers);
    const params = { protocolVersion: SESSION_VERSIONS[0], capabilities, clientInfo };
    const hello = initializedServer(await this.#send({ method: 'initialize', params }, HANDSHAKE));
    transport.setProtocolVersion?.(hello.version);
    await this.#peer.notify('notifications/initialized');
    return hello;
  }

  #beStateless({ version, capabilities }: ServerHello): void {
    this.#stateless = version;
    this.#subscription = new ChangeSubscription(toldChanges(capabilities), (params, signal) =>
      this.#send({ method: 'subscriptions/listen', params }, { ...HANDSHAKE, signal }),
    );
  }

  /** @param version of a stateless server. */
  async #send(
    { method, params }: ForwardedRequest,
    options: ClientRequestOptions,
    call?: ActiveCall,
    version = this.#stateless,
  ): Promise<JsonObject> {
    const id = this.#peer.newId();
    const { timeoutMs, signal, trace, onProgress } = options;
    const isCall = call !== undefined && mayTalkBack(method);
    if (isCall) this.#calls.add(id, { ...call, suspendTimeout: () => this.#peer.suspendTimeout(id) });
    let isAbandoned = false;
    const envelope = version === null ? undefined : this.#envelope(version, options.capabilities);
    const progressToken = isCall || onProgress ? id : undefined;
    try {
      return await this.#peer.request(
        { id, method, params: withMeta(params, { trace, progressToken, envelope }) },
        {
          timeoutMs,
          ...(signal && { signal }),
          ...(version !== null && {
            stateless: true,
            headers: { ...options.headers, ...requestHeaders({ method, params }, version) },
          }),
          onProgress: (progress) => this.#tellProgress(progress, onProgress),
          onAbandoned: () => {
            isAbandoned = isCall;
          },
        },
      );
    } finally {
      if (isAbandoned) this.#calls.abandon(id);
      else this.#calls.remove(id);
    }
  }

  #envelope(version: string, capabilities: JsonObject | undefined): Envelope {
    const { clientInfo, answers } = this.#deps;
    return { version, clientInfo, capabilities: capabilities ?? clientCapabilities(answers) };
  }

  /** A stateless server has no requests for this: what is watched is part of the subscription. */
  #watched(subscription: ChangeSubscription, { method, params }: ForwardedRequest): boolean {
    const { uri } = params;
    if (typeof uri !== 'string') return false;
    if (method === 'resources/subscribe') subscription.watch(uri);
    else if (method === 'resources/unsubscribe') subscription.unwatch(uri);
    else return false;
    return true;
  }

  #tellProgress(params: JsonObject, tell: ClientRequestOptions['onProgress']): void {
    const progress = tell && progressOf(params, this.#deps.mask);
    if (progress) tell?.(progress);
  }

  #hear({ method, params = {} }: RpcNotification, about: RequestId | undefined): void {
    const { events, mask, transport } = this.#deps;
    if (method === 'notifications/message') {
      events.onNote(logNote(params, this.#shown));
      this.#calls.callOf(about)?.onLog?.(maskedObject(params, mask));
    } else if (method === 'notifications/tools/list_changed') events.onToolsChanged();
    else if (method === 'notifications/subscriptions/acknowledged') transport.onstream?.();
    else if (concernsClients(method)) events.onNotification?.({ method, params });
  }

  #end(): void {
    this.#subscription?.end();
    this.#calls.clear();
    this.onclosed?.();
  }
}

/** Whether a server may ask or log something because of such a request. A list or a ping gives no reason to. */
function mayTalkBack(method: string): boolean {
  return !/^(?:ping|server\/discover|logging\/setLevel|.*\/(?:list|subscribe|unsubscribe))$/.test(method);
}

function concernsClients(method: string): boolean {
  return /^notifications\/(?:resources|prompts|elicitation)\//.test(method);
}
