import { z } from 'zod';

/** A duration in milliseconds. Node's timers take at most 2^31 - 1. */
export const TimeoutMs = z.int().min(1).max(2_147_483_647);
