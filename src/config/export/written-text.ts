import { parseTemplate, type TemplatePart } from '../reading/template.ts';
import { isSecretName, REDACTED, redactText } from './redact.ts';

type Variable = Extract<TemplatePart, { kind: 'variable' }>;

/** Rewrites a text with the redaction for its kind. */
export type Rewrite = (text: string, redact: (text: string) => string) => string;

/**
 * For a text of the file. Each `${…}` becomes one placeholder character during the redaction, so that a `}` or a `/` in
 * it does not hide the end of a secret. Defaults are redacted separately.
 */
export const written: Rewrite = (text, redact) => {
  const references: string[] = [];
  const folded = parseTemplate(text).map((part) => {
    if (part.kind !== 'variable' || !part.source.startsWith('${')) return part.source;
    references.push(`\${${part.name}${redactFallback(part, redact)}}`);
    return String.fromCodePoint(FIRST_PLACEHOLDER + references.length - 1);
  });
  return redact(folded.join('')).replaceAll(/[\u{F0000}-\u{FFFFD}]/gu, (placeholder) => {
    return references[(placeholder.codePointAt(0) ?? 0) - FIRST_PLACEHOLDER] ?? placeholder;
  });
};

function redactFallback({ name, fallback }: Variable, redact: (text: string) => string): string {
  if (fallback === undefined) return '';
  return `:-${isSecretName(name) && fallback !== '' ? REDACTED : written(fallback, redact)}`;
}

/** The first character of a private plane of Unicode, which texts do not use. */
const FIRST_PLACEHOLDER = 0xf0000;

/** A text of the agent file for people: references by their names, `$$` as a dollar sign, and no secrets. */
export function shownText(text: string): string {
  return parseTemplate(written(text, redactText))
    .map(({ kind, source }) => (kind === 'dollar' ? '$' : source))
    .join('');
}
