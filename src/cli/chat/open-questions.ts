interface Open<T> {
  readonly question: T;
  readonly over: AbortController;
}

/** What waits for an answer of the person at the terminal, the oldest first: approvals, or what tool servers ask. */
export class OpenQuestions<T> {
  readonly #open = new Map<string, Open<T>>();
  #arrival = Promise.withResolvers<void>();

  add(id: string, question: T): void {
    this.#open.set(id, { question, over: new AbortController() });
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers<void>();
  }

  /** The oldest question. Its signal is aborted when no answer is needed any more. */
  first(): { readonly question: T; readonly signal: AbortSignal } | undefined {
    const [open] = this.#open.values();
    return open && { question: open.question, signal: open.over.signal };
  }

  /** Resolves as soon as a question is open. */
  async arrival(): Promise<void> {
    if (this.#open.size === 0) await this.#arrival.promise;
  }

  close(id: string): void {
    this.#open.get(id)?.over.abort();
    this.#open.delete(id);
  }

  closeAll(isOver: (question: T) => boolean): void {
    for (const [id, { question }] of this.#open) if (isOver(question)) this.close(id);
  }
}
