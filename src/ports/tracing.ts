import type { TraceContext } from '../core/trace.ts';

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanBeginning {
  readonly kind: 'client' | 'server' | 'internal';
  readonly attributes: SpanAttributes;
  /** What it is part of; a new trace when left out. */
  readonly parent?: TraceContext | undefined;
}

export interface SpanFailure {
  /** A class of errors with few values, such as `AGENT_ERROR`. */
  readonly type: string;
  /** For people; holds neither secrets nor message content. */
  readonly message?: string;
}

/** A piece of work while it goes on. */
export interface Span {
  /** For whoever does a part of it. */
  readonly context: TraceContext;
  set(attributes: SpanAttributes): void;
  /** At most once. */
  end(failure?: SpanFailure): void;
}

/** Records what the service does as spans, for an operator's tracing system. Never throws, never waits. */
export interface Tracing extends AsyncDisposable {
  begin(name: string, beginning: SpanBeginning): Span;
}
