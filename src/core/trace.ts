import { z } from 'zod';

/** A place in a distributed trace, as W3C Trace Context writes it in headers and MCP in `_meta`. */
export const TraceContext = z.object({
  /** Version, trace, span and flags, in hexadecimal digits. */
  traceparent: z
    .string()
    .regex(/^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/),
  tracestate: z
    .string()
    .regex(/^[\x20-\x7e]{1,512}$/)
    .optional()
    .catch(undefined),
});
export type TraceContext = z.infer<typeof TraceContext>;

/** The trace that a request says it is part of. What is malformed is as if it were not there: a trace never fails a request. */
export function traceContextOf(fields: unknown): TraceContext | undefined {
  const { data } = TraceContext.safeParse(fields);
  if (!data) return undefined;
  return traceFields(data);
}

/** Without what is not there, as it is sent in headers and in `_meta`. */
export function traceFields({ traceparent, tracestate }: TraceContext): {
  traceparent: string;
  tracestate?: string;
} {
  return { traceparent, ...(tracestate !== undefined && { tracestate }) };
}
