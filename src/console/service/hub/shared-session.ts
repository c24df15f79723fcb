import type { TokenSource } from '../../../client/admission.ts';
import {
  connect,
  type Receipt,
  type SendOptions,
  type SessionClient,
  type SessionStatus,
  type StreamEvent,
  type UnsentMessage,
} from '../../../client/session-client.ts';
import type { MachineState } from '../../../core/machine-state.ts';
import { agentBase } from '../agent-base.ts';
import { errorText } from '../api-error.ts';
import { type LiveSteps, record, stream } from '../running-step.ts';
import { ServiceClock } from '../service-clock.ts';
import type { ActionResult, HubSession, SessionAction, SessionNews, Trouble } from './hub-messages.ts';
import type { MachineStates } from './machine-states.ts';
import { randomId } from './random-id.ts';
import type { Tab } from './tab.ts';
import { troubleOf } from './trouble.ts';

/** A stream that no tab needs waits this long for the answers to sent messages. */
const ANSWERS_WITHIN_MS = 10_000;

export interface SharedSessionDeps {
  /** The stream of the machines has opened or was lost. */
  readonly onMachines: () => void;
  /** The service refuses the stream, for now or for good. */
  readonly onRefused: (error: unknown) => void;
  /** The stream has ended for good. May be called again. */
  readonly onEnded: () => void;
}

/** Where a stream begins: after this event, which is of this time, in milliseconds since the epoch. */
export interface StreamBegin {
  readonly session: string;
  readonly seq: number;
  readonly time: number;
  /** @see ServiceClock.aheadMs */
  readonly clockAheadMs: number;
  /** The token of whoever is signed in. */
  readonly token: TokenSource | undefined;
}

/** The stream of one session, for all tabs that show it. */
export class SharedSession {
  /** The states of all machines come over the stream of the session. */
  readonly #machines: MachineStates;
  readonly #session: string;
  readonly #deps: SharedSessionDeps;
  readonly #client: SessionClient;
  readonly #tabs = new Set<Tab>();
  /** The messages that the service has not answered yet, by their ids. */
  readonly #unanswered = new Map<string, UnsentMessage>();
  #closeLater: ReturnType<typeof setTimeout> | undefined;
  #seq: number;
  readonly #clock: ServiceClock;
  /** When the newest event was appended or has arrived, by the clock of the service, in milliseconds since the epoch. */
  #time: number;
  #steps: LiveSteps = { running: null, thoughts: new Map() };
  #trouble: Trouble | null = null;

  constructor(
    { session, seq, time, clockAheadMs, token }: StreamBegin,
    machines: MachineStates,
    deps: SharedSessionDeps,
  ) {
    this.#clock = new ServiceClock(clockAheadMs);
    this.#machines = machines;
    this.#session = session;
    this.#deps = deps;
    this.#seq = seq;
    this.#time = time;
    this.#client = connect({
      url: self.location.origin + agentBase,
      session,
      token,
      position: { seq, turnId: null, step: null, offset: 0 },
      reasoning: true,
      time: true,
      environment: { randomId },
      onMachines: (states, isComplete) => this.#takeMachines(states, isComplete),
      onStatus: (status) => this.#become(status),
      onUnsent: (unsent) => this.#tell({ unsent }),
      onRetry: (error, delayMs) => this.#fail(error, delayMs),
    });
    void this.#follow();
  }

  join(tab: Tab): void {
    this.#tabs.add(tab);
    clearTimeout(this.#closeLater);
    const { status, unsent } = this.#client;
    const state = { status, unsent, unanswered: [...this.#unanswered.values()], trouble: this.#trouble };
    const joined = { seq: this.#seq, steps: this.#steps, state };
    tab.post({ kind: 'session.joined', session: this.#session, joined });
  }

  /** Closes the stream when no tab is left. */
  leave(tab: Tab): void {
    this.#tabs.delete(tab);
    this.#closeIfUnneeded();
  }

  async do(action: SessionAction): Promise<ActionResult> {
    const client = this.#client;
    switch (action.name) {
      case 'send':
        return this.#send(action.content, action.options);
      case 'cancel':
        await client.cancel();
        return undefined;
      case 'approve':
        await client.approve(action.callId, action.argumentsHash);
        return undefined;
      case 'deny':
        await client.deny(action.callId, action.reason);
        return undefined;
      case 'reset':
        await client.reset();
        return undefined;
      case 'withdraw':
        return client.withdraw(action.clientMessageId);
      default:
        return action satisfies never;
    }
  }

  async #send(content: string, options: SendOptions): Promise<Receipt> {
    const { clientMessageId = randomId() } = options;
    this.#unanswered.set(clientMessageId, { clientMessageId, content });
    this.#tellUnanswered();
    try {
      return await this.#client.send(content, { ...options, clientMessageId });
    } finally {
      this.#unanswered.delete(clientMessageId);
      this.#tellUnanswered();
      this.#closeIfUnneeded();
    }
  }

  #tellUnanswered(): void {
    this.#tell({ unanswered: [...this.#unanswered.values()] });
  }

  /** A message without an answer would be given back to its writer, although the service may have it. */
  #closeIfUnneeded(): void {
    if (this.#tabs.size > 0) return;
    clearTimeout(this.#closeLater);
    if (this.#unanswered.size === this.#client.unsent.length) this.#close();
    else this.#closeLater = setTimeout(() => this.#close(), ANSWERS_WITHIN_MS);
  }

  #close(): void {
    this.#deps.onEnded();
    this.#client.close();
  }

  async #follow(): Promise<void> {
    try {
      for await (const event of this.#client) this.#take(event);
    } catch (error) {
      this.#post({ kind: 'session.ended', session: this.#session, reason: errorText(error) });
      this.#deps.onRefused(error);
    }
    this.#deps.onEnded();
  }

  #take(event: StreamEvent): void {
    const now = this.#clock.now();
    if (event.seq === undefined) this.#steps = stream(this.#steps, event, { now, since: () => this.#time });
    else {
      this.#seq = event.seq;
      this.#time = event.time === undefined ? now : Date.parse(event.time);
      this.#steps = record(this.#steps, event, now);
    }
    this.#post({ kind: 'session.event', session: this.#session, event });
  }

  #takeMachines(states: readonly MachineState[], isComplete: boolean): void {
    if (isComplete) this.#machines.opened();
    for (const state of states) this.#machines.take(state, !isComplete);
    if (isComplete) this.#deps.onMachines();
  }

  #become(status: SessionStatus): void {
    if (status === 'live') this.#trouble = null;
    else this.#loseMachines();
    this.#tell({ status, trouble: this.#trouble });
  }

  #fail(error: unknown, delayMs: number): void {
    this.#trouble = troubleOf(error, delayMs);
    this.#tell({ trouble: this.#trouble });
    this.#loseMachines();
    this.#deps.onRefused(error);
  }

  #loseMachines(): void {
    this.#machines.lost(this.#trouble);
    this.#deps.onMachines();
  }

  #tell(state: Partial<HubSession>): void {
    this.#post({ kind: 'session.state', session: this.#session, state });
  }

  #post(news: SessionNews): void {
    for (const tab of this.#tabs) tab.post(news);
  }
}
