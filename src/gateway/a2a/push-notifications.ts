import { a2aError } from './a2a-error.ts';

export async function refusePush(): Promise<never> {
  throw a2aError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'The agent sends no push notifications.', {
    suggestion: 'Subscribe to the task, or get it.',
  });
}
