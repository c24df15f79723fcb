/** What a provider refuses, told by its own error body. A fake of the provider asks them before it answers. */
export interface ProviderRules {
  /** As in `llm.provider`. */
  readonly provider: string;
  readonly api: 'chat' | 'responses' | 'messages';
  readonly rules: readonly ProviderRule[];
}

export interface ProviderRule {
  /** What the provider demands, as a sentence: `every tool call has a result`. */
  readonly name: string;
  /** Address of the documentation page or issue that says so. */
  readonly source: string;
  /** The refusal of this request body; undefined when the rule is kept. `model` is the model that was asked. */
  refusal(body: RequestBody): Refusal | undefined;
}

export interface Refusal {
  readonly status: number;
  /** The error body as the provider sends it. */
  readonly body: unknown;
}

/** A request body as JSON; a rule looks at the fields that it is about. */
export type RequestBody = Readonly<Record<string, unknown>>;
