import { z } from 'zod';

export const WhenBusy = z
  .enum(['enqueue', 'reject', 'interrupt'])
  .describe(
    'What happens to a message while a turn is open: it waits, is refused, or cancels that turn and takes its place.',
  );
export type WhenBusy = z.infer<typeof WhenBusy>;
