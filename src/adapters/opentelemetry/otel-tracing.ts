import {
  type Context,
  createTraceState,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { TracerProvider } from '@opentelemetry/sdk-trace';
import type { TraceContext } from '../../core/trace.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Span, SpanAttributes, SpanBeginning, SpanFailure, Tracing } from '../../ports/tracing.ts';
import { within } from '../../timing/deadline.ts';

/** Longest that a shutdown waits for the collector to take the last spans. */
const LAST_EXPORT_MS = 3_000;

const kinds = { client: SpanKind.CLIENT, server: SpanKind.SERVER, internal: SpanKind.INTERNAL };

/** Records the spans of one provider. It registers nothing globally: a process may run several services. */
export class OtelTracing implements Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  readonly #log: Logger;

  constructor(provider: TracerProvider, version: string, log: Logger) {
    this.#provider = provider;
    this.#log = log;
    this.#tracer = provider.getTracer('agent-service', version);
  }

  begin(name: string, { kind, attributes, parent }: SpanBeginning): Span {
    const context = parent ? contextOf(parent) : ROOT_CONTEXT;
    return new RecordedSpan(this.#tracer.startSpan(name, { kind: kinds[kind], attributes }, context));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const shutdown = this.#provider.shutdown().then(() => true);
    if (await within(LAST_EXPORT_MS, shutdown, false)) return;
    this.#log.warn({}, 'the last spans could not be sent in time, and are lost');
  }
}

class RecordedSpan implements Span {
  readonly #span: OtelSpan;

  constructor(span: OtelSpan) {
    this.#span = span;
  }

  get context(): TraceContext {
    const { traceId, spanId, traceFlags, traceState } = this.#span.spanContext();
    const flags = traceFlags.toString(16).padStart(2, '0');
    const tracestate = traceState?.serialize();
    return { traceparent: `00-${traceId}-${spanId}-${flags}`, ...(tracestate && { tracestate }) };
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(attributes);
  }

  end(failure?: SpanFailure): void {
    if (failure) {
      const { type, message } = failure;
      this.#span.setAttribute('error.type', type);
      this.#span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
    }
    this.#span.end();
  }
}

/** The `TraceContext` schema has already checked the syntax of `traceparent`. */
function contextOf({ traceparent, tracestate }: TraceContext): Context {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
    ...(tracestate !== undefined && { traceState: createTraceState(tracestate) }),
  });
}
