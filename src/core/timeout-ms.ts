import { z } from 'zod';

export const DAY_MS = 24 * 60 * 60_000;

/** The longest time that Node's timers take, in milliseconds. A longer one would end at once. */
export const MAX_TIMEOUT_MS = 2_147_483_647;

/** A duration in milliseconds. */
export const TimeoutMs = z.int().min(1).max(MAX_TIMEOUT_MS);
