import type { SessionEvent } from '../../core/log/events.ts';
import type { SessionPolicy } from '../../core/session/session-decider.ts';
import type { ReplyChunk, ReplyReasoning } from '../../core/session/session-signal.ts';
import type { AppendOptions } from '../../ports/event-store.ts';
import type { EarlyReply } from '../turns/early-reply.ts';
import type { TurnSession } from '../turns/turn-deps.ts';
import type { TurnRun } from '../turns/turn-run.ts';
import type { TurnRunner } from '../turns/turn-runner.ts';
import { addendumOf } from './early-addendum.ts';

export interface SessionTurnDeps {
  readonly turns: Pick<TurnRunner, 'callEarly' | 'hold' | 'start'>;
  readonly policy: SessionPolicy;
}

/** Runs the open turn of a session, one turn after the other. The session passes each event on once it is in the log. */
export class SessionTurn {
  readonly #session: TurnSession;
  readonly #deps: SessionTurnDeps;
  #run: TurnRun | null = null;
  #isStopped = false;

  constructor(session: TurnSession, deps: SessionTurnDeps) {
    this.#session = session;
    this.#deps = deps;
  }

  get isRunning(): boolean {
    return this.#run !== null;
  }

  /** Whether `stop` was called: no further turn is started. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** The text that the running step has streamed. */
  get partial(): string {
    return this.#run?.partial ?? '';
  }

  /** Everything the running step has streamed, as one chunk. */
  get streamed(): ReplyChunk | null {
    return this.#run?.streamed ?? null;
  }

  /** Everything the running step has thought aloud, as one piece. */
  get thought(): ReplyReasoning | null {
    return this.#run?.thought ?? null;
  }

  /**
   * Ends the effects of the turn if the events cancel it. Call it before they are appended, so that nothing is streamed after
   * the recorded partial text.
   */
  cancelBy(events: readonly SessionEvent[]): void {
    if (events.some((event) => event.type === 'turn.cancelled' && event.turnId === this.#run?.turnId))
      this.#run?.cancel();
  }

  /** Calls the model for a turn that begins with these events, before they are in the log. Null where the call must wait. */
  callEarly(events: readonly SessionEvent[]): EarlyReply | null {
    return this.#isStopped ? null : this.#deps.turns.callEarly(this.#session.state, events);
  }

  /**
   * Keeps the version of the agent for a turn that begins with these events: the agent file may be read again while they are
   * on their way to the log. @returns a function that ends it.
   */
  holdVersion(events: readonly SessionEvent[]): (() => void) | undefined {
    return events.some(beginsTurn) ? this.#deps.turns.hold() : undefined;
  }

  /** A reply that is complete before the events of its message are written is stored with them. */
  addendum(early: EarlyReply): NonNullable<AppendOptions['addendum']> {
    return (recorded) =>
      this.#isStopped ? null : addendumOf(early.step, recorded, this.#deps.policy, this.#session.state);
  }

  /**
   * Passes an event to the running turn, or starts the turn that begins with it.
   * @param early the reply to the first step, if the model was called early. The turn then starts even after `stop`.
   */
  take(event: SessionEvent, early: EarlyReply | null): void {
    switch (event.type) {
      case 'turn.started':
      case 'turn.resumed':
        if (early || !this.#isStopped)
          this.#run = this.#deps.turns.start(this.#session, early, event.agentVersion);
        return;
      case 'step.completed':
      case 'output.rejected':
      case 'approval.requested':
      case 'approval.granted':
      case 'tool-call.delegated':
      case 'input.requested':
      case 'input.answered':
      case 'tool-call.succeeded':
      case 'tool-call.failed':
      case 'tool-call.interrupted':
      case 'turn.completed':
      case 'turn.failed':
      case 'turn.cancelled':
        if (this.#run?.turnId === event.turnId) this.#run.tell(event);
        return;
      case 'turn.requested':
      case 'tool-call.requested':
      case 'sampling.completed':
      case 'session.reset':
      case 'session.renamed':
      case 'session.described':
      case 'session.extended':
      case 'session.forked':
      case 'session.deleted':
        return;
      default:
        event satisfies never;
    }
  }

  /** Forgets the run of a turn that is over. */
  clear(): void {
    this.#run = null;
  }

  /** Ends the running turn without recording anything, and starts no other. */
  stop(): void {
    this.#isStopped = true;
    this.#run?.stop();
    this.#run = null;
  }
}

function beginsTurn({ type }: SessionEvent): boolean {
  return type === 'turn.started' || type === 'turn.resumed';
}
