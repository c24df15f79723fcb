import type { JsonObject } from '../../../core/json-object.ts';
import { JsonRpcError } from '../../../core/json-rpc.ts';
import type { Mask } from './secret-mask.ts';

/** The server's error as it came, except for the secrets of its configuration. */
export function maskedError({ code, message, data }: JsonRpcError, mask: Mask): JsonRpcError {
  return new JsonRpcError(code, mask(message), masked(data, mask));
}

/** The object without the secrets in its texts. */
export function maskedObject(object: JsonObject, mask: Mask): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, item]) => [mask(key), masked(item, mask)]));
}

function masked(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((item) => masked(item, mask));
  return typeof value === 'object' && value !== null ? maskedObject({ ...value }, mask) : value;
}
