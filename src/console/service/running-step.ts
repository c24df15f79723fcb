import type { StreamEvent } from '../../client/session-client.ts';

/** The model's reasoning in a step. */
export interface Thought {
  readonly text: string;
  /** Milliseconds from the step's beginning to its first text or its end. Null before that, and when not observed. */
  readonly ms: number | null;
}

/** What was streamed of the running step so far. */
export interface RunningStep {
  readonly turnId: string;
  readonly step: number;
  /** When it began, in milliseconds since the epoch, by the clock of the service. */
  readonly since: number;
  readonly text: string;
  readonly thought: Thought | null;
}

/** The reasoning of ended steps, by `stepKey`. */
export type Thoughts = ReadonlyMap<string, Thought>;

/** The running step, and the reasoning of earlier steps, which the log may not have. */
export interface LiveSteps {
  readonly running: RunningStep | null;
  readonly thoughts: Thoughts;
}

export function stepKey(turnId: string, step: number): string {
  return `${turnId} ${step}`;
}

/** In milliseconds since the epoch, by the clock of the service. */
export interface StepTimes {
  readonly now: number;
  /** When the running step of a turn began. */
  readonly since: (turnId: string) => number;
}

/** Adds a streamed piece. */
export function stream(
  { running, thoughts }: LiveSteps,
  event: StreamEvent,
  { now, since }: StepTimes,
): LiveSteps {
  const { turnId, step } = event;
  if (turnId === undefined || step === undefined) return { running, thoughts };
  const known = running?.turnId === turnId && running.step === step ? running : null;
  const before = known ?? { turnId, step, since: since(turnId), text: '', thought: null };
  return { running: extended(before, event, now), thoughts };
}

function extended(running: RunningStep, event: StreamEvent, now: number): RunningStep {
  const { text, thought } = running;
  switch (event.event) {
    case 'chunk':
      return { ...running, text: text + event.data.content, thought: withDuration(running, now) };
    case 'thinking': {
      const { reasoning = '' } = event.data;
      return { ...running, thought: { text: (thought?.text ?? '') + reasoning, ms: thought?.ms ?? null } };
    }
    default:
      return running;
  }
}

/** The thought with its duration, which is measured at the step's first text or at its end. */
function withDuration({ thought, text, since }: RunningStep, now: number): Thought | null {
  if (!thought || thought.ms !== null || text !== '') return thought;
  return { ...thought, ms: Math.max(0, now - since) };
}

/**
 * Ends the running step if the event does. Its reasoning is kept, unless the step starts again.
 * @param now by the clock of the service, in milliseconds since the epoch.
 */
export function record({ running, thoughts }: LiveSteps, event: StreamEvent, now: number): LiveSteps {
  if (!running || !endsStep(running, event)) return { running, thoughts };
  const thought = event.event === 'turnResumed' ? null : withDuration(running, now);
  if (!thought) return { running: null, thoughts };
  const key = stepKey(running.turnId, running.step);
  return { running: null, thoughts: new Map(thoughts).set(key, thought) };
}

function endsStep({ turnId }: RunningStep, event: StreamEvent): boolean {
  return (
    ['stepCompleted', 'turnResumed', 'response', 'error', 'deleted'].includes(event.event) &&
    (event.turnId === undefined || event.turnId === turnId)
  );
}
