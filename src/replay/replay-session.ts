import { canonicalJson } from '../core/content-hash.ts';
import { type SessionEvent, turnIdOf } from '../core/log/events.ts';
import { evolve, initialSessionState } from '../core/session/session-state.ts';
import { stateHash } from '../core/session/state-hash.ts';
import { withCauses } from './legacy-causes.ts';
import { type RecordedClosing, recordedClosings } from './recorded-closings.ts';
import { reachOfInput, recordedInput } from './recorded-input.ts';
import { type ReplayDeps, ReplayedSession } from './replayed-session.ts';
import { type ReplayedTurn, TurnTally } from './turn-tally.ts';

/** The first event in which the replay differs from the recording. */
export interface ReplayDifference {
  readonly seq: number;
  readonly turnId: string | null;
  /** The number of the turn in its session. */
  readonly turn: number | null;
  /** The model call of the turn: 1, 2, 3 … */
  readonly step: number | null;
  /** Null if the recording has ended. */
  readonly recorded: SessionEvent | null;
  /** Null if the replay made no event. */
  readonly replayed: SessionEvent | null;
  /** Why there is no event, if that is known. */
  readonly note?: string;
}

export interface ReplayReport {
  /** Number of events in the recording. */
  readonly events: number;
  readonly turns: readonly ReplayedTurn[];
  readonly difference: ReplayDifference | null;
  /** Hashes of the folded states at the end; null if there is a difference. */
  readonly stateHash: { readonly recorded: string; readonly replayed: string } | null;
}

/**
 * Runs a recorded session again, with the real decider, mailbox, journal and turn machine. The session gets the
 * recorded inputs in their order, and each event that they cause is compared with the recorded event.
 *
 * @param onTurn is called at the end of each turn that was replayed without a difference.
 */
export async function replaySession(
  recording: readonly SessionEvent[],
  deps: ReplayDeps,
  onTurn: (turn: ReplayedTurn) => void = () => undefined,
): Promise<ReplayReport> {
  const events = withCauses(recording).map(withoutAgentVersion);
  const session = new ReplayedSession(deps, events);
  try {
    return await new Replay(events, session, onTurn).run();
  } finally {
    session.stop();
  }
}

class Replay {
  readonly #recording: readonly SessionEvent[];
  readonly #session: ReplayedSession;
  readonly #closings: ReadonlyMap<number, RecordedClosing>;
  readonly #onTurn: (turn: ReplayedTurn) => void;
  readonly #tally = new TurnTally();
  /** Number of events that were replayed as recorded. */
  #matched = 0;

  constructor(
    recording: readonly SessionEvent[],
    session: ReplayedSession,
    onTurn: (turn: ReplayedTurn) => void,
  ) {
    this.#recording = recording;
    this.#session = session;
    this.#closings = recordedClosings(recording);
    this.#onTurn = onTurn;
  }

  async run(): Promise<ReplayReport> {
    const ends = [...this.#closings.keys()].toSorted((a, b) => a - b);
    let difference: ReplayDifference | null = null;
    for (const end of [...ends, this.#recording.length]) {
      difference ??= await this.#replayTo(end);
    }
    return {
      events: this.#recording.length,
      turns: this.#tally.turns,
      difference,
      stateHash: difference ? null : await this.#stateHashes(),
    };
  }

  /** Replays up to `end`: the next fork or repair, or the end of the recording. No input causes events beyond it. */
  async #replayTo(end: number): Promise<ReplayDifference | null> {
    while (this.#matched < end) {
      const note = await this.#applyNextInput(end);
      const came = await this.#session.eventsAfter(this.#matched);
      if (came.length === 0) return this.#difference(null, note);
      // Not all events that the last input caused may have been copied or kept. The others are not compared.
      const isCut = end < this.#recording.length;
      for (const event of isCut ? came.slice(0, end - this.#matched) : came) {
        if (!this.#matches(event)) return this.#difference(event, note);
      }
    }
    return null;
  }

  async #applyNextInput(end: number): Promise<string | undefined> {
    const closing = this.#closings.get(this.#matched);
    if (closing) {
      await this.#session.close(closing, this.#matched);
      return undefined;
    }
    const reach = reachOfInput(this.#recording, this.#matched, end);
    return this.#session.apply(recordedInput(reach, this.#session.state.open));
  }

  #matches(event: SessionEvent): boolean {
    const recorded = this.#recording[this.#matched];
    if (!recorded || canonicalJson(recorded) !== canonicalJson(event)) return false;
    this.#matched += 1;
    const over = this.#tally.count(recorded);
    if (over) this.#onTurn(over);
    return true;
  }

  #difference(replayed: SessionEvent | null, note: string | undefined): ReplayDifference {
    const recorded = this.#recording[this.#matched] ?? null;
    const event = recorded ?? replayed;
    const turnId = (event && turnIdOf(event)) ?? null;
    return {
      seq: this.#matched + 1,
      turnId,
      turn: (turnId !== null && this.#tally.turn(turnId)?.number) || null,
      step: (event && 'step' in event ? event.step : this.#stepOf(turnId)) || null,
      recorded,
      replayed,
      ...(note !== undefined && { note }),
    };
  }

  #stepOf(turnId: string | null): number | null {
    const { open } = this.#session.state;
    return open?.turnId === turnId ? open.step : null;
  }

  async #stateHashes(): Promise<{ recorded: string; replayed: string }> {
    const replayed = await stateHash(this.#session.state);
    const recorded = await stateHash(this.#recording.reduce(evolve, initialSessionState()));
    return { recorded, replayed };
  }
}

/** A replay has no agent file. */
function withoutAgentVersion(event: SessionEvent): SessionEvent {
  if (event.type !== 'turn.started' && event.type !== 'turn.resumed') return event;
  const { agentVersion: _, ...others } = event;
  return others;
}
