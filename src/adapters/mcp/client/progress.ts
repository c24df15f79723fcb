import { z } from 'zod';
import type { JsonObject } from '../../../core/json-object.ts';
import { shorten } from '../../../core/shorten.ts';
import type { ToolProgress } from '../../../core/tool-call/tool-progress.ts';
import type { Mask } from '../failure/secret-mask.ts';

const MAX_CHARACTERS = 500;

const WireProgress = z.object({
  progress: z.number(),
  total: z.number().nullish(),
  message: z.string().nullish(),
});

/** @param params of `notifications/progress`. @returns undefined if they are not valid. */
export function progressOf(params: JsonObject, mask: Mask): ToolProgress | undefined {
  const parsed = WireProgress.safeParse(params);
  if (!parsed.success) return undefined;
  const { progress, total, message } = parsed.data;
  return {
    progress,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message: shorten(mask(message), MAX_CHARACTERS) }),
  };
}
