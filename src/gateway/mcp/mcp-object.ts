/** A JSON object of the protocol. It is passed on with all its fields: those that nobody knows here have readers elsewhere. */
export type McpObject = Readonly<Record<string, unknown>>;

export function isMcpObject(value: unknown): value is McpObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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
