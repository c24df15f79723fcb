import { span } from '../ui/time.ts';

const names: ReadonlyMap<string, string> = new Map([
  ['step', 'Model calls so far'],
  ['maxSteps', 'At most'],
  ['stepTimeoutMs', 'Time for a model call'],
  ['unsettled', 'Tool calls without a result'],
  ['awaiting', 'Waiting for approval'],
  ['delegated', 'Waiting for the client'],
  ['asking', 'Waiting for an answer'],
  ['isAskedAgain', 'Asked for another form of its reply'],
  ['turnId', 'Id of the turn'],
  ['sessionId', 'Session'],
  ['name', 'Tool server'],
  ['failures', 'Failed attempts in a row'],
  ['toolCount', 'Tools'],
  ['error', 'Last error'],
]);

/** The name of a field of a machine's context, in plain words. */
export function fieldName(field: string): string {
  return names.get(field) ?? field;
}

/** Its value, in plain words. */
export function fieldText(field: string, value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'none';
  if (Array.isArray(value)) return value.join(', ');
  if (field === 'maxSteps') return `${String(value)} model calls in a turn`;
  if (field === 'stepTimeoutMs' && typeof value === 'number') return span(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
