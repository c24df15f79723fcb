import { visible } from '../../core/visible.ts';
import type { ToolCallView } from './conversation.ts';

const MAX_CHARACTERS = 160;

/** The arguments in one line, such as `a: 19, b: 23`. */
export function argumentsLine(args: ToolCallView['arguments']): string {
  const parts = Object.entries(args).map(([name, value]) => `${name}: ${valueText(value)}`);
  return oneLine(visible(parts.join(', ')));
}

/** How the call ended in one line: the first text of the result, or the error. Empty while it runs. */
export function resultLine({ result, error }: Pick<ToolCallView, 'result' | 'error'>): string {
  if (error !== undefined) return oneLine(error);
  if (!result) return '';
  const { content, structuredContent } = result;
  const text = content.find((block) => block.type === 'text' && typeof block.text === 'string')?.text;
  if (typeof text === 'string') return oneLine(text);
  if (content.length === 0 && structuredContent !== undefined) return oneLine(valueText(structuredContent));
  return content.map(({ type }) => type).join(', ');
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS)}…` : line;
}
