import { z } from 'zod';
import type { ErrorCode } from '../../../core/errors.ts';
import { IdempotencyKeyId } from '../../../wire/requests.ts';
import type { Route } from '../../http/router.ts';

/** One REST operation as the documents tell of it: what its schemas cannot say themselves. */
export interface Operation {
  /** Names it for generated clients. */
  readonly id: string;
  readonly method: Route['method'];
  /** As the router has it, such as `/api/sessions/:sessionId`. */
  readonly path: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  readonly pathParameters?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: { readonly schema: z.ZodType; readonly required: boolean };
  /** What status 200 has, by media type. */
  readonly answers: Readonly<Record<string, z.ZodType>>;
  /** Besides those that every operation may answer. */
  readonly errors: readonly ErrorCode[];
  readonly examples: readonly OperationExample[];
}

export type Tag = 'Messages' | 'Sessions' | 'Tool servers' | 'Service';

/** A request and what it is answered with. A test sends each of them to a running service. */
export interface OperationExample {
  /** Unique in its operation. */
  readonly name: string;
  readonly summary: string;
  readonly parameters?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
  readonly answer: ExampleAnswer;
}

export type ExampleAnswer =
  | { readonly status: 200; readonly mediaType?: string; readonly body: unknown }
  | { readonly error: ErrorCode; readonly message: string; readonly details: Record<string, unknown> };

/** Every POST takes one. */
export const KeyHeader = z.object({ 'Idempotency-Key': IdempotencyKeyId.optional() });

/** Of a stream that goes on. */
export const EVENT_STREAM_TYPE = 'text/event-stream';

export const EXAMPLE_TIME = '2026-11-21T05:51:26.421Z';

export const JSON_TYPE = 'application/json';

/** Status 200 with this body, and the time that every answer has. */
export function ok(body: Record<string, unknown>): ExampleAnswer {
  return { status: 200, body: { ...body, timestamp: EXAMPLE_TIME } };
}
