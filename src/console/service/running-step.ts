import type { StreamEvent } from '../../client/session-client.ts';

/** What the model has thought aloud in a step. */
export interface Thought {
  readonly text: string;
  /** Milliseconds from the step's beginning to its first word, or to its end. Null before that, or unseen. */
  readonly ms: number | null;
}

/** What the running step has thought and said so far. */
export interface RunningStep {
  readonly turnId: string;
  readonly step: number;
  /** When it began, in milliseconds since the epoch. */
  readonly since: number;
  readonly text: string;
  readonly thought: Thought | null;
}

/** The thoughts of steps that are over, by `stepKey`. */
export type Thoughts = ReadonlyMap<string, Thought>;

/** What was streamed: of the step that runs, and of earlier ones what the log may not have. */
export interface LiveSteps {
  readonly running: RunningStep | null;
  readonly thoughts: Thoughts;
}

export function stepKey(turnId: string, step: number): string {
  return `${turnId} ${step}`;
}

/** @param since when the running step of a turn began. */
export function stream(
  { running, thoughts }: LiveSteps,
  event: StreamEvent,
  since: (turnId: string) => number,
): LiveSteps {
  const { turnId, step } = event;
  if (turnId === undefined || step === undefined) return { running, thoughts };
  const known = running?.turnId === turnId && running.step === step ? running : null;
  const before = known ?? { turnId, step, since: since(turnId), text: '', thought: null };
  return { running: grown(before, event), thoughts };
}

function grown(running: RunningStep, event: StreamEvent): RunningStep {
  const { text, thought } = running;
  switch (event.event) {
    case 'chunk':
      return { ...running, text: text + event.data.content, thought: timed(running) };
    case 'thinking': {
      const { reasoning = '' } = event.data;
      return { ...running, thought: { text: (thought?.text ?? '') + reasoning, ms: thought?.ms ?? null } };
    }
    default:
      return running;
  }
}

/** Before it says something more, or ends: the first time tells how long it has thought. */
function timed({ thought, text, since }: RunningStep): Thought | null {
  if (!thought || thought.ms !== null || text !== '') return thought;
  return { ...thought, ms: Math.max(0, Date.now() - since) };
}

/** What a step has thought is still shown when it is over, but not of one that begins anew. */
export function record({ running, thoughts }: LiveSteps, event: StreamEvent): LiveSteps {
  if (!running || !endsStep(running, event)) return { running, thoughts };
  const thought = event.event === 'turnResumed' ? null : timed(running);
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
