import { z } from 'zod';

export const Timestamp = z.iso.datetime({ precision: 3 }).describe('ISO 8601, UTC, with milliseconds.');
