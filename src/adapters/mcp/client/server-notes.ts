import type { JsonObject } from '../../../core/json-object.ts';
import { shorten } from '../../../core/shorten.ts';
import type { ServerNote } from '../../../core/tool-server/server-log.ts';
import type { Mask } from '../failure/secret-mask.ts';

const MAX_CHARACTERS = 2_000;

/** A value as a server's log shows it: bounded and without secrets. */
export type Shown = (value: unknown) => string;

export function shownWith(mask: Mask): Shown {
  return (value) => {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
    return shorten(mask(text), MAX_CHARACTERS);
  };
}

/** @param params of `notifications/message`. */
export function logNote({ level, logger, data }: JsonObject, shown: Shown): ServerNote {
  return {
    source: 'log',
    level: typeof level === 'string' ? level : 'info',
    ...(typeof logger === 'string' && { logger: shown(logger) }),
    text: shown(data),
  };
}
