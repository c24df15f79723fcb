import type { StreamEvent } from '../../client/session-client.ts';
import type { InputAction } from '../../core/tool-call/input-events.ts';
import type { InputForm } from '../../core/tool-call/input-form.ts';
import { visible } from '../../core/visible.ts';
import type { LineInput } from './line-input.ts';
import { printable, type Screen } from './screen.ts';

export type AskedInput = Extract<StreamEvent, { event: 'inputRequired' }>['data'];

/** What was typed. Null: the question has ended meanwhile. */
export type TypedAnswer = { readonly action: InputAction; readonly content?: Record<string, unknown> } | null;

interface Terminal {
  readonly lines: LineInput;
  readonly screen: Screen;
}

const HOW = 'An empty line leaves a field as it is; /decline declines.';

/** Asks at the terminal what a tool server wants to know, one field after the other. */
export async function promptFor(
  { toolName, message, question }: AskedInput,
  { lines, screen }: Terminal,
  signal: AbortSignal,
): Promise<TypedAnswer> {
  screen.note({ text: `${printable(toolName)} asks: ${message}`, style: 'yellow' });
  if (question.mode === 'url') screen.note({ text: visible(question.url), style: 'yellow' });
  if (question.mode === 'sampling') screen.note({ text: visible(question.prompt), style: 'dim' });
  const fields = question.mode === 'form' ? Object.entries(question.schema.properties) : [];
  // A form without fields asks only whether the call may go on.
  if (fields.length === 0) return consent({ lines, screen }, signal);
  screen.note({ text: HOW, style: 'dim' });
  const content: Record<string, unknown> = {};
  for (const [name, field] of fields) {
    const prompt = screen.styled(`${printable(labelOf(name, field))}: `, 'yellow');
    const line = await lines.read({ prompt, fresh: true, signal });
    if (line.kind === 'withdrawn') return null;
    if (line.kind !== 'line') return { action: 'cancel' };
    const text = line.text.trim();
    if (text === '/decline') return { action: 'decline' };
    if (text !== '') content[name] = typedValue(field, text);
  }
  return { action: 'accept', content };
}

async function consent({ lines, screen }: Terminal, signal: AbortSignal): Promise<TypedAnswer> {
  for (;;) {
    const prompt = screen.styled('accept? [y/n] ', 'yellow');
    const line = await lines.read({ prompt, fresh: true, signal });
    if (line.kind === 'withdrawn') return null;
    if (line.kind !== 'line') return { action: 'cancel' };
    if (/^y(es)?$/i.test(line.text.trim())) return { action: 'accept' };
    if (/^no?$/i.test(line.text.trim())) return { action: 'decline' };
  }
}

type Field = InputForm['properties'][string];

function labelOf(name: string, field: Field): string {
  const kept = field.default === undefined ? '' : ` [${String(field.default)}]`;
  return `${field.title ?? name} (${kindOf(field)})${kept}`;
}

function kindOf(field: Field): string {
  if ('enum' in field) return field.enum.join(' | ');
  if ('oneOf' in field) return field.oneOf.map((value) => value.const).join(' | ');
  if (field.type === 'array') return 'several, separated by commas';
  return field.type === 'boolean' ? 'yes or no' : field.type;
}

/** What does not fit is sent as it is: the service says what is wrong with it. */
function typedValue(field: Field, text: string): unknown {
  if (field.type === 'array') return text.split(',').map((item) => item.trim());
  if (field.type === 'number' || field.type === 'integer')
    return Number.isNaN(Number(text)) ? text : Number(text);
  if (field.type !== 'boolean') return text;
  if (/^(y(es)?|true)$/i.test(text)) return true;
  return /^(no?|false)$/i.test(text) ? false : text;
}
