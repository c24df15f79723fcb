import { JsonRpcError } from '../../../core/json-rpc.ts';
import { shorten } from '../../../core/shorten.ts';
import { messageOf } from '../../../core/thrown.ts';
import { HttpStatusError } from '../http/http-status-error.ts';
import { requiredVisits } from '../questions/required-visits.ts';
import type { Mask } from './secret-mask.ts';

const MAX_CHARACTERS = 2_000;

/** Describes a failed exchange for the operator and the model. Bounded and without secrets. */
export function failureText(error: unknown, mask: Mask): string {
  return shorten(mask(describe(error)), MAX_CHARACTERS);
}

function describe(error: unknown): string {
  if (error instanceof JsonRpcError) return describeRpc(error);
  if (error instanceof HttpStatusError) return describeHttp(error);
  if (error instanceof TypeError && error.cause instanceof Error) return describeNetwork(error.cause);
  return messageOf(error);
}

function describeRpc(error: JsonRpcError): string {
  // Servers that are built on the SDK add this prefix.
  const text = error.message.replace(/^(?:MCP error -?\d+: )+/, '');
  const required = requiredVisits(error);
  if (required.length === 0) return text;
  const visits = required.map((visit) => `${shorten(visit.message, 300)} (${visit.url})`);
  return [shorten(text, 300), ...visits].join('\n');
}

function describeHttp({ status, text }: HttpStatusError): string {
  return [`the server answered HTTP ${status}`, shorten(text, 300)].filter((part) => part !== '').join(': ');
}

function describeNetwork(cause: Error): string {
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  // The error for a host with several addresses has an empty message.
  return `the server could not be reached: ${cause.message === '' ? code : cause.message}`;
}
