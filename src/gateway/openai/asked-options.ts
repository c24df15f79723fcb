import type { TurnOptions } from '../../core/turn/turn-options.ts';
import { type AskedTools, toolOptions } from '../requests/tool-options.ts';
import { type AskedFormat, outputFormat } from './output-format.ts';

/** What both of OpenAI's interfaces can ask of a turn. */
export interface AskedOptions extends AskedTools {
  /** Empty: none. */
  readonly instructions: string;
  readonly maxTokens: number | undefined;
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly format: AskedFormat | undefined;
}

/** Throws if the tools cannot be. */
export function askedOptions(asked: AskedOptions): TurnOptions {
  const { instructions, maxTokens, temperature, topP, format } = asked;
  const output = outputFormat(format);
  return {
    ...(instructions !== '' && { instructions }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(output && { output }),
    ...toolOptions(asked),
  };
}
