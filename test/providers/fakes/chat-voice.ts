import { DONE, events } from '../wire-shape.ts';
import { halves, type NamedCall, type Saying, type Spoken, type Voice } from './voice.ts';

/** What one provider does in its own way over chat completions. Deltas are those of a choice. */
export interface ChatHabits {
  /** A chunk with one choice, and its fields in the provider's order. */
  chunk(delta: object, finishReason: string | null): object;
  callId(mark: string, place: number): string;
  calls(calls: readonly NamedCall[], mark: string): readonly object[];
  /** The deltas of a thought; left out where the provider shows none. */
  thoughts?(pieces: readonly string[], mark: string): readonly object[];
  /** The first delta. */
  readonly opening?: object;
  texts?(pieces: readonly string[], saying: Saying): readonly object[];
  /** The delta beside the finish reason. */
  last?(saying: Saying, mark: string): object;
  readonly finishOfCalls?: string;
  /** What follows the last choice, `[DONE]` included. */
  readonly tail?: readonly (object | string)[];
  /** A comment between the events. */
  readonly comment?: string;
  /** Fields of the assistant's message, or of a call, that have to come back. */
  returned?(saying: Saying, mark: string): Spoken['returned'];
}

export function chatVoice(habits: ChatHabits): Voice {
  return (saying, mark) => {
    const calls = saying.calls.map((call, place) => ({ ...call, id: habits.callId(mark, place) }));
    const reasoning = habits.thoughts ? saying.reasoning : '';
    const chunks = deltasOf(habits, { ...saying, reasoning }, calls, mark).map((delta) =>
      habits.chunk(delta, null),
    );
    const finish = calls.length > 0 ? (habits.finishOfCalls ?? 'tool_calls') : 'stop';
    const end = habits.chunk(habits.last?.(saying, mark) ?? {}, finish);
    const all = [...chunks, end, ...(habits.tail ?? [DONE])];
    const body = all.map((chunk) => `${habits.comment ?? ''}${events(chunk)}`).join('');
    const returned = habits.returned?.({ ...saying, reasoning }, mark) ?? [];
    return { answer: { body }, calls, reasoning, returned };
  };
}

function deltasOf(
  habits: ChatHabits,
  saying: Saying,
  calls: readonly NamedCall[],
  mark: string,
): readonly object[] {
  const { reasoning, text } = saying;
  const texts = habits.texts ?? ((pieces) => pieces.map((content) => ({ content })));
  return [
    ...(habits.opening ? [habits.opening] : []),
    ...(reasoning === '' ? [] : (habits.thoughts?.(halves(reasoning), mark) ?? [])),
    ...(text === '' ? [] : texts(halves(text), saying)),
    ...(calls.length === 0 ? [] : habits.calls(calls, mark)),
  ];
}

/** Most providers want the thoughts back, if they do, with the calls that came of them. */
export function thoughtsBesideCalls(field: string): NonNullable<ChatHabits['returned']> {
  return ({ reasoning, calls }) => (reasoning === '' || calls.length === 0 ? [] : [{ [field]: reasoning }]);
}

export function thoughtsIn(field: string, more: object = {}): NonNullable<ChatHabits['thoughts']> {
  return (pieces) => pieces.map((piece) => ({ ...more, [field]: piece }));
}
