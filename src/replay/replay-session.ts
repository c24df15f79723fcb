import { canonicalJson } from '../core/content-hash.ts';
import type { SessionEvent } from '../core/log/events.ts';
import { evolve, initialSessionState } from '../core/session/session-state.ts';
import { stateHash } from '../core/session/state-hash.ts';
import { withCauses } from './legacy-causes.ts';
import { recordedForks } from './recorded-forks.ts';
import { reachOfInput, recordedInput } from './recorded-input.ts';
import { ReplayedSession, type ReplayParts } from './replayed-session.ts';
import { type ReplayedTurn, TurnTally } from './turn-tally.ts';

/** The first place where the replay did not do what was recorded. */
export interface ReplayDifference {
  readonly seq: number;
  readonly turnId: string | null;
  /** The number of the turn in its session. */
  readonly turn: number | null;
  /** The model call of the turn: 1, 2, 3 … */
  readonly step: number | null;
  /** Null where the recording ends. */
  readonly recorded: SessionEvent | null;
  /** Null where nothing came. */
  readonly replayed: SessionEvent | null;
  readonly note?: string;
}

export interface ReplayReport {
  /** Of the recording. */
  readonly events: number;
  readonly turns: readonly ReplayedTurn[];
  readonly difference: ReplayDifference | null;
  /** Of the folded state at the end of both; null when they differ before. */
  readonly stateHash: { readonly recorded: string; readonly replayed: string } | null;
}

/**
 * Runs a recorded session again, through the decider, the mailbox, the journal and the turn machine: what came from
 * outside comes again, in the recorded order, and each event that is made is compared with the recorded one.
 *
 * @param onTurn is told of each turn that came out as it was recorded, as soon as it is over.
 */
export async function replaySession(
  recording: readonly SessionEvent[],
  parts: ReplayParts,
  onTurn: (turn: ReplayedTurn) => void = () => undefined,
): Promise<ReplayReport> {
  const events = withCauses(recording);
  const session = new ReplayedSession(parts, events);
  try {
    return await new Replay(events, session, onTurn).run();
  } finally {
    session.stop();
  }
}

class Replay {
  readonly #recording: readonly SessionEvent[];
  readonly #session: ReplayedSession;
  readonly #forks: ReadonlyMap<number, string>;
  readonly #onTurn: (turn: ReplayedTurn) => void;
  readonly #tally = new TurnTally();
  /** How many events came out as they were recorded. */
  #matched = 0;

  constructor(
    recording: readonly SessionEvent[],
    session: ReplayedSession,
    onTurn: (turn: ReplayedTurn) => void,
  ) {
    this.#recording = recording;
    this.#session = session;
    this.#forks = recordedForks(recording);
    this.#onTurn = onTurn;
  }

  async run(): Promise<ReplayReport> {
    const ends = [...this.#forks.keys()].toSorted((a, b) => a - b);
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

  /** Up to the next fork, or the end of the recording: no input reaches further. */
  async #replayTo(end: number): Promise<ReplayDifference | null> {
    while (this.#matched < end) {
      const note = await this.#bringAboutNext(end);
      const came = await this.#session.eventsAfter(this.#matched);
      if (came.length === 0) return this.#difference(null, note);
      // What a fork did not take over is none of its concern.
      const isFork = end < this.#recording.length;
      for (const event of isFork ? came.slice(0, end - this.#matched) : came) {
        if (!this.#matches(event)) return this.#difference(event, note);
      }
    }
    return null;
  }

  async #bringAboutNext(end: number): Promise<string | undefined> {
    const from = this.#forks.get(this.#matched);
    if (from !== undefined) {
      await this.#session.fork(from, this.#matched);
      return undefined;
    }
    const reach = reachOfInput(this.#recording, this.#matched, end);
    return this.#session.bringAbout(recordedInput(reach, this.#session.state.open));
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
    const turnId = event && 'turnId' in event ? event.turnId : null;
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
