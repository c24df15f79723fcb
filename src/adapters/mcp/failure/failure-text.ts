import { SseError } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { messageOf } from '../../../core/errors.ts';
import type { Mask } from './secret-mask.ts';
import { shorten } from './shorten.ts';

const MAX_CHARACTERS = 2_000;

/** What an operator, or the model, is told about a failed exchange. Bounded and without secrets. */
export function failureText(error: unknown, mask: Mask): string {
  return shorten(mask(describe(error)), MAX_CHARACTERS);
}

function describe(error: unknown): string {
  // Servers built on the SDK put its prefix into the message, and the SDK's client puts it there again.
  if (error instanceof McpError) return error.message.replace(/^(?:MCP error -?\d+: )+/, '');
  if (error instanceof z.core.$ZodError) return 'the server sent an answer that is not valid MCP';
  if (error instanceof StreamableHTTPError || error instanceof SseError) return describeHttp(error);
  if (error instanceof TypeError && error.cause instanceof Error) return describeNetwork(error.cause);
  return messageOf(error);
}

function describeHttp(error: StreamableHTTPError | SseError): string {
  const text = error.message.replace(
    /^(?:Streamable HTTP error|SSE error): (?:Error POSTing to endpoint: )?/,
    '',
  );
  const status = error.code !== undefined && error.code > 0 ? `the server answered HTTP ${error.code}` : '';
  return [status, shorten(text, 300)].filter((part) => part !== '').join(': ');
}

function describeNetwork(cause: Error): string {
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  // The error for a host with several addresses has an empty message.
  return `the server could not be reached: ${cause.message === '' ? code : cause.message}`;
}
