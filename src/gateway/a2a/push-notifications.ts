import type { ServiceError } from '../../core/errors.ts';
import { a2aError } from './a2a-error.ts';

export async function refusePush(): Promise<never> {
  throw noPush();
}

export function noPush(): ServiceError {
  return a2aError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'The agent sends no push notifications.', {
    suggestion: 'Subscribe to the task, or get it.',
  });
}
