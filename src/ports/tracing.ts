import type { TraceContext } from '../core/trace.ts';

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanBeginning {
  readonly kind: 'client' | 'server' | 'internal';
  readonly attributes: SpanAttributes;
  /** The parent span. Without one, the span begins a new trace. */
  readonly parent?: TraceContext | undefined;
}

export interface SpanFailure {
  /** Has few distinct values, such as `AGENT_ERROR`. */
  readonly type: string;
  /** For people. Contains no secrets and no message content. */
  readonly message?: string;
}

/** A running span. */
export interface Span {
  /** Parent of child spans. */
  readonly context: TraceContext;
  set(attributes: SpanAttributes): void;
  /** Call it at most once. */
  end(failure?: SpanFailure): void;
}

/** Records spans for the operator's tracing system. Never throws, never waits. */
export interface Tracing extends AsyncDisposable {
  begin(name: string, beginning: SpanBeginning): Span;
}
