import type { ProviderRules } from '../provider-rules.ts';
import type { Voice } from './voice.ts';

/** A provider as these tests play it: what it refuses, how it answers, and what its users set. */
export interface Fake {
  /** For the titles of tests. */
  readonly name: string;
  /** All of one provider. */
  readonly rules: readonly ProviderRules[];
  readonly voice: Voice;
  /** One for which the rules hold that depend on the model. */
  readonly model: string;
  /** More fields of `llm`. */
  readonly llm?: Readonly<Record<string, unknown>>;
  /** What it says of images; left out where it takes them. */
  readonly blind?: { readonly rule: string; readonly told: RegExp; readonly image?: 'gif' };
  /** Whether it refuses to be offered tools, or even to be told that some were called. Takes both when left out. */
  readonly toolless?: 'offer' | 'history';
  /** For models that take none: the empty string. */
  readonly systemPrompt?: string;
  /** Whether it calls no tool without a thought. */
  readonly alwaysThinks?: true;
  /** Whether its call ids cannot go back as they are: they repeat, or the model's own template refuses them. */
  readonly needsOtherIds?: true;
}

/** They tell the provider and the interface. */
export function firstRules({ name, rules: [first] }: Fake): ProviderRules {
  if (!first) throw new Error(`${name} has no rules`);
  return first;
}
