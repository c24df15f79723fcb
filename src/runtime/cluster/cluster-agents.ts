import type { Envelope } from '../../core/log/envelope.ts';
import type { LoggedEvent } from '../../core/log/events.ts';
import type { StreamId } from '../../core/log/streams.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import { type NodeLoad, SessionElsewhereError } from '../../ports/membership.ts';
import type { AnswerOf, RequestOf, RequestType } from '../../ports/service-requests.ts';

/** One agent of this node. */
export interface ClusterAgent {
  /** Does what another node asks for. */
  request(name: RequestType, request: RequestOf<RequestType>, context: RequestContext): Promise<unknown>;
  readonly load: NodeLoad;
  /** The position of a session that this node owns. */
  position(sessionId: string): Promise<AnswerOf<'session.position'>>;
  /** Another node owns the session, whatever this node has in memory. */
  lost(sessionId: string): void;
  /** Tells the clients of this node. */
  tell(signal: SessionSignal): void;
  /** Goes on with open turns that have lost their owner. Called again and again. */
  recover(): void;
}

/** A session of one of the agents. */
export interface AgentSession {
  readonly prefix: string;
  readonly sessionId: string;
  readonly agent: ClusterAgent;
}

/** The agents of this node. Each has the streams with its prefix. */
export class ClusterAgents {
  readonly #agents = new Map<string, ClusterAgent>();

  /** @param prefix of the agent's streams; empty for the agent whose streams have none. */
  join(prefix: string, agent: ClusterAgent): void {
    this.#agents.set(prefix, agent);
  }

  /** Throws a `SessionElsewhereError` if this node has no such agent. */
  withPrefix(prefix: string): ClusterAgent {
    const agent = this.#agents.get(prefix);
    // This node is starting, or has another service file.
    if (!agent) throw new SessionElsewhereError(prefix, null);
    return agent;
  }

  sessionOf(stream: StreamId): AgentSession {
    for (const [prefix, agent] of this.#agents)
      if (prefix !== '' && stream.startsWith(prefix))
        return { prefix, sessionId: stream.slice(prefix.length), agent };
    const agent = this.#agents.get('');
    if (!agent) throw new Error(`no agent of this node has the stream ${stream}`);
    return { prefix: '', sessionId: stream, agent };
  }

  /** The events with the id of the session as the agent knows it: in the log, the id has the prefix of the agent. */
  signalsOf(stream: StreamId, events: readonly Envelope<LoggedEvent>[]): SessionSignal[] {
    const { sessionId } = this.sessionOf(stream);
    // A stream of a session has only events of sessions.
    return events.map((envelope) => ({ ...envelope, sessionId }) as SessionSignal);
  }

  get load(): NodeLoad {
    const loads = [...this.#agents.values()].map(({ load }) => load);
    const sum = (of: (load: NodeLoad) => number): number => loads.reduce((all, load) => all + of(load), 0);
    return {
      sessions: sum(({ sessions }) => sessions),
      turns: sum(({ turns }) => turns),
      waiting: sum(({ waiting }) => waiting),
    };
  }

  recover(): void {
    for (const agent of this.#agents.values()) agent.recover();
  }
}
