import { ownPrefix } from '../../core/access/session-names.ts';
import type { SessionId, TurnId } from '../../core/ids.ts';
import { fullShare, HOLDERS, type LimitHolder, type PerHolder } from '../../core/limit-errors.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import { outcomeOf } from '../../core/session/session-state.ts';
import { ownerPrefixes } from './owner-prefixes.ts';

interface TurnPlace {
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
}

interface OpenTurn {
  /** Each agent has sessions of its own, of the same ids. */
  readonly agent: object;
  readonly sessionId: SessionId;
  readonly holders: Readonly<Record<LimitHolder, string>>;
}

/**
 * The turns that each principal, and each tenant, has started and that are not over: those that run, those that wait for an
 * approval, and messages that wait behind them. A turn that goes on after a restart counts for the owner of its session.
 */
export class OpenTurns {
  readonly #limits: PerHolder;
  readonly #turns = new Map<TurnId, OpenTurn>();
  readonly #counts: Readonly<Record<LimitHolder, Map<string, number>>> = {
    principal: new Map(),
    tenant: new Map(),
  };
  #refusals = 0;

  constructor(limits: PerHolder) {
    this.#limits = limits;
  }

  /** How often there were too many. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Call before the turn is started. Throws `RATE_LIMIT_EXCEEDED`. @param agent stands for the agent of the turn. */
  open({ sessionId, turnId }: TurnPlace, client: RequestContext, agent: object): void {
    if (this.#isOff || this.#turns.has(turnId)) return;
    const holders = { principal: ownPrefix(client), tenant: `${client.tenant}/` };
    for (const holder of HOLDERS) {
      const limit = this.#limits[holder];
      if (limit === false || (this.#counts[holder].get(holders[holder]) ?? 0) < limit) continue;
      this.#refusals += 1;
      throw fullShare(
        {
          name: 'runningTurns',
          of: holder,
          what: 'running turns',
          suggestion: 'Wait until one ends, or cancel one.',
        },
        limit,
        1,
      );
    }
    this.#add(turnId, { agent, sessionId, holders });
  }

  /** Does nothing for a turn that is not counted. */
  close(turnId: TurnId): void {
    const turn = this.#turns.get(turnId);
    if (!turn) return;
    const { holders } = turn;
    this.#turns.delete(turnId);
    for (const holder of HOLDERS) {
      const counts = this.#counts[holder];
      const left = (counts.get(holders[holder]) ?? 1) - 1;
      if (left === 0) counts.delete(holders[holder]);
      else counts.set(holders[holder], left);
    }
  }

  /** Call with each signal of each session of the agent. */
  hear(signal: SessionSignal, agent: object): void {
    if (!('event' in signal) || this.#isOff) return;
    const { event, sessionId } = signal;
    const ended = outcomeOf(event);
    if (ended) this.close(ended.turnId);
    else if (event.type === 'session.deleted') this.#closeAll(sessionId, agent);
    else if (event.type === 'turn.resumed') this.goesOn({ sessionId, turnId: event.turnId }, agent);
  }

  /** The turn counts for the owner of its session, unless it is counted already. */
  goesOn({ sessionId, turnId }: TurnPlace, agent: object): void {
    if (this.#isOff || this.#turns.has(turnId)) return;
    const holders = ownerPrefixes(sessionId);
    if (holders) this.#add(turnId, { agent, sessionId, holders });
  }

  /** The ends of these turns may not have been heard: they were erased with the session. */
  #closeAll(deleted: SessionId, ofAgent: object): void {
    for (const [turnId, { agent, sessionId }] of this.#turns)
      if (sessionId === deleted && agent === ofAgent) this.close(turnId);
  }

  get #isOff(): boolean {
    return HOLDERS.every((holder) => this.#limits[holder] === false);
  }

  #add(turnId: TurnId, turn: OpenTurn): void {
    const { holders } = turn;
    this.#turns.set(turnId, turn);
    for (const holder of HOLDERS) {
      const counts = this.#counts[holder];
      counts.set(holders[holder], (counts.get(holders[holder]) ?? 0) + 1);
    }
  }
}
