import type { TurnOptions } from '../../core/turn/turn-options.ts';
import type { MessageFrame } from '../../wire/requests.ts';

/** What a message wants for its turn alone; undefined if nothing. */
export function messageOptions({
  clientTools,
  outputSchema,
}: Pick<MessageFrame, 'clientTools' | 'outputSchema'>): TurnOptions | undefined {
  if (!clientTools && !outputSchema) return undefined;
  return {
    ...(clientTools && { clientTools }),
    ...(outputSchema && { output: { schema: outputSchema, name: 'output' } }),
  };
}
