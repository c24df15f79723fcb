import type { IncomingHttpHeaders } from 'node:http';
import { it } from 'vitest';
import type { Image } from '../../../src/core/conversation/image.ts';
import type { LanguageModel } from '../../../src/ports/language-model.ts';
import type { Answer } from './answers.ts';

/** What not every model has. A harness tells why its model has none of it. */
export type Feature =
  | 'reasoning'
  | 'refusal'
  | 'image'
  | 'endings'
  | 'truncation'
  | 'refused requests'
  | 'errors before the text'
  | 'settings'
  | 'whole answers'
  | 'packets'
  | 'silence'
  | 'opaque parts';

export interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders;
  /** The body as it came. */
  readonly text: string;
}

/** A model and the provider behind it. */
export interface Subject extends AsyncDisposable {
  readonly model: LanguageModel;
  /** Every request, in order of arrival. */
  readonly requests: readonly ReceivedRequest[];
  /** Resolves when the request of this number has arrived, the first being 0. */
  arrived(number: number): Promise<unknown>;
  /** Resolves when the request of this number was answered in full. */
  answered(number: number): Promise<unknown>;
  /** Resolves when no request is under way any more. */
  idle(): Promise<void>;
}

export interface LanguageModelHarness {
  readonly name: string;
  readonly lacks: Readonly<Partial<Record<Feature, string>>>;
  /**
   * A model whose provider gives these answers, one to each request. All further requests are answered with `STILL_HERE`.
   *
   * @param settings under `llm`.
   */
  open(answers: readonly Answer[], settings?: Readonly<Record<string, unknown>>): Promise<Subject>;
  /** The bytes of an answer's stream. */
  bytesOf(answer: Answer): Uint8Array;
  /** The settings `maxTokens: 321` and `temperature: 0.5` as fields of a request. */
  readonly settingFields: Readonly<Record<string, unknown>>;
  /** An image as it stands in a request. */
  imagePart(image: Image): object;
  /** Of each reasoning that was said and signed: what has to stand in the next request, character for character. */
  readonly returned: string;
}

/** A test of what every model has, or of a feature. `printLacks` tells why a model has none of it. */
export function scenario(
  { lacks }: LanguageModelHarness,
  feature: Feature | 'always',
  name: string,
  test: () => Promise<void>,
  timeoutMs?: number,
): void {
  if (feature === 'always' || lacks[feature] === undefined) it(name, test, timeoutMs);
}

/** Which scenarios are left out for this model, and why. */
export function printLacks({ name, lacks }: LanguageModelHarness): void {
  const lines = Object.entries(lacks).map(([feature, reason]) => `${name} has no ${feature}: ${reason}\n`);
  process.stdout.write(lines.join(''));
}
