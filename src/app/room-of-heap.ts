import { getHeapStatistics } from 'node:v8';
import { WorkingMemory } from '../runtime/sessions/working-memory.ts';
import type { Clock } from '../timing/clock.ts';

/** Of the heap. A message is copied for the log, the model and the watchers, so one at work takes several times its size. */
const WORKING = 1 / 8;

/** The room of large sessions, by the memory that the process may use. */
export function roomOfHeap(clock?: Clock): WorkingMemory {
  return new WorkingMemory(Math.floor(getHeapStatistics().heap_size_limit * WORKING), clock);
}
