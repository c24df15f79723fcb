import type { Envelope } from '../../core/log/envelope.ts';
import { StreamCursor } from '../../core/session/stream-cursor.ts';
import type { ReportedTurn, ReportTurn, TurnReport } from '../../ports/turn-report.ts';
import { hasEnded, type StreamResponse } from './a2a-objects.ts';
import { A2A_TYPE } from './a2a-version.ts';
import { TurnTask } from './turn-task.ts';
import { withoutFiles } from './without-files.ts';

/** What the SDK of A2A sends, too. */
export const PUSH_TYPE = A2A_TYPE;

/** A task for a receiver of push notifications: first as it is, then what changes, as the streams tell it. */
export const reportTask: ReportTurn = (turn) => new PushedTask(turn);

class PushedTask implements TurnReport {
  readonly #task: TurnTask;
  readonly #cursor: StreamCursor;
  readonly #head: number;
  #updates: StreamResponse[] = [];
  #isShown = false;

  constructor({ head, afterSeq, ...place }: ReportedTurn) {
    this.#head = head;
    this.#cursor = new StreamCursor({ seq: afterSeq, offset: 0 });
    this.#task = new TurnTask(place, (update) => this.#updates.push(update));
  }

  get hasBegun(): boolean {
    return this.#task.task !== null;
  }

  get isOver(): boolean {
    const { task } = this.#task;
    return task !== null && hasEnded(task);
  }

  /** The whole text of a step comes with the event that ends it. */
  take(envelope: Envelope): readonly StreamResponse[] {
    this.#updates = [];
    for (const signal of this.#cursor.take(envelope)) this.#task.take(signal);
    if (this.#isShown) return this.#updates;
    const { task } = this.#task;
    if (!task || envelope.seq < this.#head) return [];
    this.#isShown = true;
    return [{ task: withoutFiles(task) }];
  }
}
