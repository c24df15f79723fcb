import { EventEmitter } from 'eventemitter3';
import type { CallId, SessionId } from '../../core/ids.ts';
import type { MachineState } from '../../core/machine-state.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import type { ToolCallSignal } from '../../core/tool-call/tool-progress.ts';
import type { OfferChange } from '../../core/tool-server/offer-change.ts';
import type { Bus, MachineFilter, SessionListener, Unsubscribe } from '../../ports/bus.ts';
import type { AnswerOf, RequestOf, RequestType } from '../../ports/service-requests.ts';

type Handler<T extends RequestType> = (
  request: RequestOf<T>,
  context: RequestContext,
) => Promise<AnswerOf<T>>;

type Handlers = { [T in RequestType]: Handler<T> };

type MachineSource = (onState: (state: MachineState) => void) => Unsubscribe;
type OnSignal = (signal: SessionSignal) => void;
type OnListenerError = (error: unknown, signal: SessionSignal) => void;

/**
 * The bus of one process. Each request type has exactly one handler. Signals of a session have any number of listeners,
 * which are keyed by session: a busy session costs the others nothing.
 */
export class LocalBus implements Bus {
  readonly #handlers: Handlers = Object.create(null);
  readonly #sessions = new EventEmitter<Record<SessionId, OnSignal>>();
  readonly #toolCalls = new EventEmitter<Record<CallId, (signal: ToolCallSignal) => void>>();
  readonly #servers = new EventEmitter<{ changed: (change: OfferChange) => void }>();
  /** Copied on write: a listener may unsubscribe while it is called. */
  #everywhere: readonly OnSignal[] = [];
  readonly #onListenerError: OnListenerError;
  #machines: MachineSource = () => () => undefined;
  /** One function for all listeners of sessions, called with the listener as its `this`. */
  readonly #tell: (this: SessionListener, signal: SessionSignal) => void;

  /** @param onListenerError receives what a listener threw. The other listeners are called all the same. */
  constructor(onListenerError: OnListenerError) {
    this.#onListenerError = onListenerError;
    this.#tell = function tell(signal) {
      try {
        this.hear(signal);
      } catch (error) {
        onListenerError(error, signal);
      }
    };
  }

  handle<T extends RequestType>(type: T, handler: Handlers[T]): void {
    if (type in this.#handlers) throw new Error(`${type} has a handler already`);
    this.#handlers[type] = handler;
  }

  /** Rejects with what the handler throws: a `ServiceError` when the request is refused. */
  send<T extends RequestType>(type: T, request: RequestOf<T>, context: RequestContext): Promise<AnswerOf<T>> {
    if (!(type in this.#handlers)) throw new Error(`nobody handles ${type}`);
    return this.#handlers[type](request, context);
  }

  publish(signal: SessionSignal): void {
    this.#sessions.emit(signal.sessionId, signal);
    for (const listener of this.#everywhere) listener(signal);
  }

  /** This bus knows no limits: everybody hears every session, under its own id. */
  topicOf(sessionId: SessionId): SessionId {
    return sessionId;
  }

  recheck(): void {
    // Everybody may go on.
  }

  onSession(sessionId: SessionId, listener: SessionListener): void {
    this.#sessions.on(sessionId, this.#tell, listener);
  }

  offSession(sessionId: SessionId, listener: SessionListener): void {
    this.#sessions.off(sessionId, this.#tell, listener);
  }

  publishToolCall(callId: CallId, signal: ToolCallSignal): void {
    this.#toolCalls.emit(callId, signal);
  }

  onToolCall(callId: CallId, listener: (signal: ToolCallSignal) => void): Unsubscribe {
    this.#toolCalls.on(callId, listener);
    return () => this.#toolCalls.off(callId, listener);
  }

  publishOfferChange(change: OfferChange): void {
    this.#servers.emit('changed', change);
  }

  onOfferChange(listener: (change: OfferChange) => void): Unsubscribe {
    this.#servers.on('changed', listener);
    return () => this.#servers.off('changed', listener);
  }

  /** Receives the signals of all sessions, each after the listeners of its own session. */
  onEverySession(listener: OnSignal): () => void {
    const guarded: OnSignal = (signal) => {
      try {
        listener(signal);
      } catch (error) {
        this.#onListenerError(error, signal);
      }
    };
    this.#everywhere = [...this.#everywhere, guarded];
    return () => {
      this.#everywhere = this.#everywhere.filter((other) => other !== guarded);
    };
  }

  /** Sets the source of machine states. */
  watchMachines(source: MachineSource): void {
    this.#machines = source;
  }

  async listMachines(filter: MachineFilter): Promise<MachineState[]> {
    return this.listNow(filter);
  }

  listNow(filter: MachineFilter): MachineState[] {
    const states: MachineState[] = [];
    this.onMachines(filter, (state) => states.push(state))();
    return states;
  }

  onMachines({ sessionId }: MachineFilter, listener: (state: MachineState) => void): Unsubscribe {
    return this.#machines((state) => {
      if (sessionId === undefined || state.sessionId === undefined || state.sessionId === sessionId)
        listener(state);
    });
  }
}
