import { z } from 'zod';

export const WhenBusy = z
  .enum(['enqueue', 'reject', 'interrupt'])
  .describe(
    'What to do with a message to a busy session: let it wait, refuse it, or cancel the running turn for it.',
  );
export type WhenBusy = z.infer<typeof WhenBusy>;
