import { type ReadableSpan, type SpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { OtelTracing } from '../../../src/adapters/opentelemetry/otel-tracing.ts';
import { silentLog } from '../service/running-service.ts';

/** Tracing whose spans stay in memory, also after its end. */
export class RecordedTraces {
  /** The spans that have ended, in the order they did. */
  readonly spans: ReadableSpan[] = [];
  readonly tracing: OtelTracing;

  constructor() {
    const keep: SpanProcessor = {
      onStart: () => undefined,
      onEnd: (span) => void this.spans.push(span),
      forceFlush: async () => undefined,
      shutdown: async () => undefined,
    };
    this.tracing = new OtelTracing(new TracerProvider({ spanProcessors: [keep] }), '0.0.0', silentLog);
  }

  /** The one span of that name. */
  span(name: string): ReadableSpan {
    const [span, ...others] = this.spans.filter((candidate) => candidate.name === name);
    if (!span || others.length > 0)
      throw new Error(`not one ${name} among ${this.spans.map((other) => other.name)}`);
    return span;
  }
}

/** As it stands in a `traceparent`. */
export function traceparentOf(span: ReadableSpan): string {
  const { traceId, spanId } = span.spanContext();
  return `00-${traceId}-${spanId}-01`;
}
