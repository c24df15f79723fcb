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
import type { Log } from '../../ports/log.ts';
import type { Span, SpanAttributes, SpanBeginning, SpanFailure, Tracing } from '../../ports/tracing.ts';

/** A collector that does not answer must not hold up a stop for longer. */
const LAST_EXPORT_MS = 3_000;

const kinds = { client: SpanKind.CLIENT, server: SpanKind.SERVER, internal: SpanKind.INTERNAL };

/** Spans of one provider. Nothing of it is global: there may be several services in one process. */
export class OtelTracing implements Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  readonly #log: Log;

  constructor(provider: TracerProvider, version: string, log: Log) {
    this.#provider = provider;
    this.#log = log;
    this.#tracer = provider.getTracer('agent-service', version);
  }

  begin(name: string, { kind, attributes, parent }: SpanBeginning): Span {
    const context = parent ? contextOf(parent) : ROOT_CONTEXT;
    return new RecordedSpan(this.#tracer.startSpan(name, { kind: kinds[kind], attributes }, context));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const over = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.#log.warn({}, 'the last spans could not be sent in time, and are lost');
      over.resolve();
    }, LAST_EXPORT_MS);
    await Promise.race([this.#provider.shutdown(), over.promise]);
    clearTimeout(timer);
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

/** The schema of `TraceContext` has checked the form. */
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
