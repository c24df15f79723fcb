import type { Envelope } from '../../contract/envelope.ts';
import type { SessionId } from '../../contract/ids.ts';
import { parseStoredRow } from './stored-row.ts';
import type { Page, ReadRequest } from './worker-protocol.ts';

/** An append waits behind one page of a long read at most, and the main thread parses one page at a time. */
const pageRows = 1000;

/** Reads a session page by page. */
export class PagedReads {
  readonly #post: (request: ReadRequest) => void;
  readonly #pages = new Map<number, PromiseWithResolvers<Page>>();
  readonly #running = new Set<Promise<unknown>>();
  #lastId = 0;

  constructor(post: (request: ReadRequest) => void) {
    this.#post = post;
  }

  async read(sessionId: SessionId, afterSeq: number, limit: number): Promise<Envelope[]> {
    const reading = this.#readPages(sessionId, afterSeq, limit);
    this.#running.add(reading);
    try {
      return await reading;
    } finally {
      this.#running.delete(reading);
    }
  }

  accept(page: Page): void {
    this.#take(page.id)?.resolve(page);
  }

  fail(id: number, error: Error): void {
    this.#take(id)?.reject(error);
  }

  /** No page will come any more. */
  abandon(error: Error): void {
    for (const page of this.#pages.values()) page.reject(error);
    this.#pages.clear();
  }

  /** Resolves when every read so far is settled. */
  async drained(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #readPages(sessionId: SessionId, afterSeq: number, limit: number): Promise<Envelope[]> {
    const envelopes: Envelope[] = [];
    while (envelopes.length < limit) {
      const maxRows = Math.min(pageRows, limit - envelopes.length);
      const page = await this.#readPage(sessionId, afterSeq + envelopes.length, maxRows);
      for (const row of page.rows) {
        envelopes.push(parseStoredRow(row, sessionId, afterSeq + envelopes.length + 1));
      }
      if (page.last) break;
    }
    return envelopes;
  }

  #readPage(sessionId: SessionId, afterSeq: number, maxRows: number): Promise<Page> {
    this.#lastId += 1;
    const page = Promise.withResolvers<Page>();
    this.#pages.set(this.#lastId, page);
    this.#post({ type: 'read', id: this.#lastId, sessionId, afterSeq, maxRows });
    return page.promise;
  }

  #take(id: number): PromiseWithResolvers<Page> | undefined {
    const page = this.#pages.get(id);
    this.#pages.delete(id);
    return page;
  }
}
