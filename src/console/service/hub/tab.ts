import type { FromHub } from './hub-messages.ts';

/** A tab, as the hub sees it. */
export interface Tab {
  post(message: FromHub): void;
}
