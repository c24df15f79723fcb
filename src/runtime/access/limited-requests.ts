import type { SessionId, TurnId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import type { Bus, Unsubscribe } from '../../ports/bus.ts';
import type { AnswerOf, RequestOf, RequestType } from '../../ports/service-requests.ts';
import type { OpenTurns } from './open-turns.ts';
import type { SessionQuota } from './session-quota.ts';

/** The bus of one agent, with the signals of all its sessions. */
interface AgentBus extends Bus {
  onEverySession(listener: (signal: SessionSignal) => void): Unsubscribe;
}

interface OpenTurn {
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
}

/** What clients may use of all agents together. */
export interface ClientQuotas {
  readonly sessions: SessionQuota;
  readonly turns: OpenTurns;
  /** Counts a message. Throws `RATE_LIMIT_EXCEEDED`. */
  readonly countMessage: (client: RequestContext) => void;
}

/** Called once: with the answer, or without one if the request was refused. */
type Settle<T extends RequestType> = (answer?: AnswerOf<T>) => void;

/** Throws, or rejects, if the limits leave no room. */
type Admission<T extends RequestType> = (
  request: RequestOf<T>,
  client: RequestContext,
) => Settle<T> | Promise<Settle<T>>;

type Admissions = { readonly [T in RequestType]?: Admission<T> };

/** The requests of clients to an agent: no more sessions, messages and running turns than their limits say. */
export class LimitedRequests implements Pick<Bus, 'send'> {
  readonly #bus: AgentBus;
  readonly #quotas: ClientQuotas;
  readonly #admissions: Admissions = {
    'turn.start': (message, client) => this.#admitTurn(message, client),
    'session.reset': ({ sessionId }) => this.#quotas.sessions.admit(sessionId, this.#bus),
    'session.describe': ({ sessionId }) => this.#quotas.sessions.admit(sessionId, this.#bus),
    'session.extend': ({ sessionId }) => this.#quotas.sessions.admit(sessionId, this.#bus),
    'session.fork': (fork) => this.#admitFork(fork),
  };

  /** @param openTurns those that the agent goes on with already. */
  constructor(bus: AgentBus, quotas: ClientQuotas, openTurns: readonly OpenTurn[]) {
    this.#bus = bus;
    this.#quotas = quotas;
    const { sessions, turns } = quotas;
    sessions.watch(bus);
    bus.onEverySession((signal) => {
      sessions.hear(signal);
      turns.hear(signal, bus);
    });
    for (const turn of openTurns) turns.goesOn(turn, bus);
  }

  async send<T extends RequestType>(
    type: T,
    request: RequestOf<T>,
    client: RequestContext,
  ): Promise<AnswerOf<T>> {
    const admitted = this.#admissions[type]?.(request, client);
    const settle = admitted instanceof Promise ? await admitted : admitted;
    try {
      const answer = await this.#bus.send(type, request, client);
      settle?.(answer);
      return answer;
    } catch (error) {
      settle?.();
      throw error;
    }
  }

  #admitTurn(
    { sessionId, turnId }: RequestOf<'turn.start'>,
    client: RequestContext,
  ): ReturnType<Admission<'turn.start'>> {
    const { sessions, countMessage } = this.#quotas;
    countMessage(client);
    const admitted = sessions.admit(sessionId, this.#bus);
    const open = (release: () => void) => this.#open({ sessionId, turnId }, client, release);
    return admitted instanceof Promise ? admitted.then(open) : open(admitted);
  }

  /** @param release of the session. */
  #open({ sessionId, turnId }: OpenTurn, client: RequestContext, release: () => void): Settle<'turn.start'> {
    const { turns } = this.#quotas;
    try {
      // Before it begins: it may end before its answer arrives here.
      turns.open({ sessionId, turnId }, client, this.#bus);
    } catch (error) {
      release();
      throw error;
    }
    return (answer) => {
      release();
      // A message that was refused, or that is repeated, begins no turn.
      if (answer?.turnId !== turnId || answer.outcome) turns.close(turnId);
    };
  }

  async #admitFork({ to, key }: RequestOf<'session.fork'>): Promise<Settle<'session.fork'>> {
    if (to === undefined) return () => undefined;
    const { sessions } = this.#quotas;
    const release = await sessions.admit(to, this.#bus);
    return (fork) => {
      // Nobody hears a fork begin. The answer to a repeated request may be that of the first one.
      if (fork && key) sessions.forget(fork.sessionId);
      else if (fork) sessions.begun(fork.sessionId);
      release();
    };
  }
}
