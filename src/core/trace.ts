import { z } from 'zod';

/** A position in a distributed trace: the W3C Trace Context fields of HTTP headers and of MCP's `_meta`. */
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

/** The trace that a request belongs to. Malformed fields are ignored, so that a trace never makes a request fail. */
export function traceContextOf(fields: unknown): TraceContext | undefined {
  const { data } = TraceContext.safeParse(fields);
  if (!data) return undefined;
  return traceFields(data);
}

/** The fields to send. `tracestate` is left out if there is none. */
export function traceFields({ traceparent, tracestate }: TraceContext): {
  traceparent: string;
  tracestate?: string;
} {
  return { traceparent, ...(tracestate !== undefined && { tracestate }) };
}
