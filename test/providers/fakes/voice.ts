import type { JsonObject } from '../rules/body-fields.ts';
import type { WireAnswer } from '../wire-shape.ts';

/** What a model says in one reply, in no provider's format. An empty text is not said. */
export interface Saying {
  /** Thought aloud. */
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly Call[];
}

export interface Call {
  readonly name: string;
  readonly arguments: JsonObject;
}

/** A call under the id that the provider gave it. */
export interface NamedCall extends Call {
  readonly id: string;
}

/** A reply as its provider puts it. */
export interface Spoken {
  readonly answer: WireAnswer;
  readonly calls: readonly NamedCall[];
  /** What the user hears of the thoughts. */
  readonly reasoning: string;
  /** What has to come back to this model unchanged: an object of a later request has each of these fields. */
  readonly returned: readonly JsonObject[];
}

/** How a provider answers. @param mark a word of letters and digits that no other reply has. */
export type Voice = (saying: Saying, mark: string) => Spoken;

/** The same of a model that does not think. */
export function withoutThoughts(voice: Voice): Voice {
  return (saying, mark) => voice({ ...saying, reasoning: '' }, mark);
}

/** Streams come in pieces. */
export function halves(text: string): readonly [string, string] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

/** The thoughts of one reply. Whoever finds `thought-` in a text has found thoughts. */
export function thought(mark: string): string {
  return `I think of thought-${mark}.`;
}
