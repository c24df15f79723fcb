import { dirname } from 'node:path';
import type { SessionId } from '../../../core/ids.ts';

/** Stored events of a session that are missing or changed: seq `from` to `to`, both included. */
export interface Loss {
  readonly sessionId: SessionId;
  readonly from: number;
  readonly to: number;
}

/** An error names at most this many sessions; `repair` reports all. */
export const maxNamed = 5;

/** The log differs from what was written. No file was changed when this is thrown. */
export class DamagedLogError extends Error {
  constructor(file: string, damage: string, options?: ErrorOptions) {
    super(`the event log ${file} is damaged: ${damage}; nothing was changed; ${repairAdvice(file)}`, options);
    this.name = 'DamagedLogError';
  }
}

export function repairAdvice(file: string): string {
  return `stop the service and run: agent-service repair --data-dir ${dirname(file)}`;
}

/** @param losses one a session. @param count how many sessions there are, if some were not looked at. */
export function describeLosses(losses: readonly Loss[], count = losses.length): string {
  const named = losses.slice(0, maxNamed).map(describeLoss);
  const others = count - named.length;
  return [...named, ...(others > 0 ? [`${others} more sessions lost events`] : [])].join(', ');
}

function describeLoss({ sessionId, from, to }: Loss): string {
  if (from > to) return `the index is wrong about session ${sessionId}`;
  return `session ${sessionId} lost seq ${from}${to > from ? ` to ${to}` : ''}`;
}
