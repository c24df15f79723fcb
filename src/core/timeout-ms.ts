import { z } from 'zod';

/** Milliseconds, as Node's timers take them: at most 2^31 - 1. */
export const TimeoutMs = z.int().min(1).max(2_147_483_647);
