import { parse } from 'yaml';

/** The number or boolean that a text spells in YAML 1.2, else the text itself. */
export function spelledScalar(text: string): unknown {
  if (!/^[-+.\w]+$/.test(text)) return text;
  const value: unknown = parse(text, { schema: 'core' });
  return typeof value === 'number' || typeof value === 'boolean' ? value : text;
}
