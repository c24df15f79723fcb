import type { StreamEvent } from '../../client/session-client.ts';
import type { AskedInput } from './input-prompt.ts';

interface Open {
  readonly input: AskedInput;
  readonly over: AbortController;
}

/** What tool servers ask. Each question stays until anybody answers or it ends. */
export class OpenInputs {
  readonly #open = new Map<string, Open>();
  #arrival = Promise.withResolvers<void>();

  constructor(inputs: readonly AskedInput[]) {
    for (const input of inputs) this.#add(input);
  }

  note({ event, data }: StreamEvent): void {
    if (event === 'inputRequired') this.#add(data);
    if (event === 'inputAnswered') this.close(data.inputId);
  }

  /** The oldest question. Its signal is aborted when no answer is needed any more. */
  first(): { readonly input: AskedInput; readonly signal: AbortSignal } | undefined {
    const [open] = this.#open.values();
    return open && { input: open.input, signal: open.over.signal };
  }

  /** Resolves as soon as a question is open. */
  async arrival(): Promise<void> {
    if (this.#open.size === 0) await this.#arrival.promise;
  }

  close(inputId: string): void {
    this.#open.get(inputId)?.over.abort();
    this.#open.delete(inputId);
  }

  #add(input: AskedInput): void {
    this.#open.set(input.inputId, { input, over: new AbortController() });
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers<void>();
  }
}
