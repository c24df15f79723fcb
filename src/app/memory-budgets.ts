import { getHeapStatistics } from 'node:v8';
import { BodyBudget } from '../adapters/uws/body-budget.ts';
import { LogReaders } from '../runtime/sessions/log-readers.ts';
import { WorkingMemory } from '../runtime/sessions/working-memory.ts';
import type { Clock } from '../timing/clock.ts';

/** A message is copied for the log, the model and the watchers, so one at work takes several times its size. */
const WORKING = 1 / 8;
/** Bodies are not on the heap. Its limit stands for the machine's memory, by which V8 chose it. */
const BODIES = 1 / 4;

/** Memory budget for large sessions, by the memory that the process may use. */
export function sessionBudget(): WorkingMemory {
  return new WorkingMemory(shareOfHeap(WORKING));
}

/** As many reads of the log at the same time as the same budget allows. */
export function logReaders(clock?: Clock): LogReaders {
  return new LogReaders(shareOfHeap(WORKING), clock);
}

/** Memory budget for the bodies of requests. */
export function bodyBudget(): BodyBudget {
  return new BodyBudget(shareOfHeap(BODIES));
}

function shareOfHeap(share: number): number {
  return Math.floor(getHeapStatistics().heap_size_limit * share);
}
