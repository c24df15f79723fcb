import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from '../../ports/logger.ts';

type Spans = Parameters<SpanExporter['export']>[0];
type OnResult = Parameters<SpanExporter['export']>[1];

/** Logs when spans are lost, and when they are sent again. It logs each change once; the SDK itself logs nothing. */
export class WatchedExporter implements SpanExporter {
  readonly #inner: SpanExporter;
  readonly #log: Logger;
  #isFailing = false;

  constructor(inner: SpanExporter, log: Logger) {
    this.#inner = inner;
    this.#log = log;
  }

  export(spans: Spans, onResult: OnResult): void {
    this.#inner.export(spans, (result) => {
      this.#note(result.error);
      onResult(result);
    });
  }

  async forceFlush(): Promise<void> {
    await this.#inner.forceFlush?.();
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }

  #note(error: Error | undefined): void {
    if (error && !this.#isFailing) this.#log.warn({ err: error }, 'spans could not be sent, and are lost');
    if (!error && this.#isFailing) this.#log.info({}, 'spans are sent again');
    this.#isFailing = error !== undefined;
  }
}
