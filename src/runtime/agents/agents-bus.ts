import type { AgentId } from '../../core/agent-description.ts';
import type { CallId, SessionId } from '../../core/ids.ts';
import type { MachineState } from '../../core/machine-state.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { ToolCallSignal } from '../../core/tool-call/tool-progress.ts';
import type { OfferChange } from '../../core/tool-server/offer-change.ts';
import type { Bus, MachineFilter, SessionListener, Unsubscribe } from '../../ports/bus.ts';
import type { AnswerOf, RequestOf, RequestType } from '../../ports/service-requests.ts';

/** Stands in no id. */
const SEPARATOR = '\n';

/**
 * The buses of several agents as one. A request goes to the agent of its context. The topics of sessions have the agent
 * in front, because each agent has a `default` session.
 */
class AgentsBus implements Bus {
  readonly #buses: ReadonlyMap<AgentId, Bus>;
  readonly #first: AgentId;

  /** @param buses by the ids of their agents; the first one answers for contexts that name none of these. */
  constructor(buses: ReadonlyMap<AgentId, Bus>) {
    const [first] = buses.keys();
    if (first === undefined) throw new Error('there is no agent');
    this.#buses = buses;
    this.#first = first;
  }

  send<T extends RequestType>(type: T, request: RequestOf<T>, context: RequestContext): Promise<AnswerOf<T>> {
    return this.#busOf(context.agent).send(type, request, context);
  }

  topicOf(sessionId: SessionId, context: RequestContext): SessionId {
    const topic = this.#busOf(context.agent).topicOf(sessionId, context);
    return `${this.#knownId(context.agent)}${SEPARATOR}${topic}`;
  }

  recheck(sessionId: SessionId, context: RequestContext): void {
    this.#busOf(context.agent).recheck(sessionId, context);
  }

  onSession(topic: SessionId, listener: SessionListener): void {
    const { bus, rest } = this.#parse(topic);
    bus.onSession(rest, listener);
  }

  offSession(topic: SessionId, listener: SessionListener): void {
    const { bus, rest } = this.#parse(topic);
    bus.offSession(rest, listener);
  }

  /** The ids of calls are made by the client that hears them, so no agent has the call of another. */
  onToolCall(callId: CallId, listener: (signal: ToolCallSignal) => void): Unsubscribe {
    const stops = [...this.#buses.values()].map((bus) => bus.onToolCall(callId, listener));
    return () => {
      for (const stop of stops) stop();
    };
  }

  onOfferChange(listener: (change: OfferChange) => void, context: RequestContext): Unsubscribe {
    return this.#busOf(context.agent).onOfferChange(listener, context);
  }

  listMachines(filter: MachineFilter, context: RequestContext): Promise<readonly MachineState[]> {
    return this.#busOf(context.agent).listMachines(filter, context);
  }

  onMachines(
    filter: MachineFilter,
    listener: (state: MachineState) => void,
    context: RequestContext,
  ): Unsubscribe {
    return this.#busOf(context.agent).onMachines(filter, listener, context);
  }

  #busOf(agentId: AgentId): Bus {
    const bus = this.#buses.get(this.#knownId(agentId));
    if (!bus) throw new Error(`there is no agent ${agentId}`);
    return bus;
  }

  #knownId(agentId: AgentId): AgentId {
    return this.#buses.has(agentId) ? agentId : this.#first;
  }

  #parse(topic: SessionId): { bus: Bus; rest: SessionId } {
    const end = topic.indexOf(SEPARATOR);
    return { bus: this.#busOf(topic.slice(0, end)), rest: topic.slice(end + 1) };
  }
}

/** The bus of the only agent, or the buses of several as one. */
export function oneBus(buses: ReadonlyMap<AgentId, Bus>): Bus {
  const [first] = buses.values();
  return first && buses.size === 1 ? first : new AgentsBus(buses);
}
