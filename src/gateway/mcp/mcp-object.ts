import type { JsonObject } from '../../core/json-object.ts';

/** A JSON object of the protocol. It is passed on with all its fields: those that nobody knows here have readers elsewhere. */
export type McpObject = JsonObject;

/** From the least severe. */
export const LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
