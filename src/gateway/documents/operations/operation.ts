import { z } from 'zod';
import type { ErrorBody, ErrorCode } from '../../../core/errors.ts';
import type { PendingInput } from '../../../core/session/session-view.ts';
import { IdempotencyKeyId } from '../../../wire/requests.ts';
import type { Route, RouteAccess } from '../../http/router.ts';

/** What the documents say about a REST operation besides its schemas. */
export interface Operation {
  /** Name of the operation in generated clients. */
  readonly id: string;
  readonly method: Route['method'];
  /** As in the router, such as `/api/sessions/:sessionId`. */
  readonly path: string;
  readonly tag: Tag;
  /** The access of its route. */
  readonly scope: RouteAccess;
  readonly summary: string;
  readonly description?: string;
  readonly pathParameters?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: { readonly schema: z.ZodType; readonly required: boolean };
  /** Schemas of the answer with status 200, by media type. */
  readonly answers: Readonly<Record<string, z.ZodType>>;
  /** Errors besides those of every operation. */
  readonly errors: readonly ErrorCode[];
  /** How errors look, where they are not an `ErrorResponse`. */
  readonly errorFormat?: ErrorExample;
  readonly examples: readonly OperationExample[];
}

export interface ErrorExample {
  readonly schema: z.ZodType;
  readonly body: (error: ErrorBody) => unknown;
  /** JSON if absent. */
  readonly mediaType?: string;
}

export type Tag =
  | 'Messages'
  | 'Sessions'
  | 'Tool servers'
  | 'Service'
  | 'Access'
  | 'OpenAI'
  | 'A2A'
  | 'AG-UI';

/** A request and its answer. A test sends each request to a running service. */
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

/** Every POST takes this header. */
export const KeyHeader = z.object({ 'Idempotency-Key': IdempotencyKeyId.optional() });

export const EVENT_STREAM_TYPE = 'text/event-stream';

export const EXAMPLE_TIME = '2026-11-21T05:51:26.421Z';

/** A tool call that waits for approval. */
export const waitingApproval = {
  turnId: '0b9f6a1c-6f0e-4a53-9d51-0d2f3f1c7f0e',
  callId: 'call_1_1',
  toolName: 'echo',
  serverId: 'everything',
  arguments: { message: 'hi' },
  argumentsHash: 'adbd982b8fe0bbd8477f09262028d3ac264001dc36e3c7579905e72c0b718755',
  since: EXAMPLE_TIME,
};

/** What a tool server asks. */
export const askedForTea = {
  inputId: 'call_1_1.1.1',
  message: 'Which tea?',
  question: {
    mode: 'form',
    schema: {
      type: 'object',
      properties: {
        size: { type: 'string', enum: ['small', 'large'] },
        hot: { type: 'boolean', default: true },
      },
      required: ['size'],
    },
  },
} as const satisfies Pick<PendingInput, 'inputId' | 'message' | 'question'>;

export const waitingInput = {
  turnId: '0b9f6a1c-6f0e-4a53-9d51-0d2f3f1c7f0e',
  callId: 'call_1_1',
  toolName: 'order_tea',
  serverId: 'asking',
  ...askedForTea,
  since: EXAMPLE_TIME,
  expiresAt: '2026-11-21T06:51:26.421Z',
};

export const JSON_TYPE = 'application/json';

/** Status 200 with this body and a `timestamp`. */
export function ok(body: Record<string, unknown>): ExampleAnswer {
  return { status: 200, body: { ...body, timestamp: EXAMPLE_TIME } };
}
