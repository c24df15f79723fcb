import { readdirSync } from 'node:fs';
import type { ProviderRules } from '../provider-rules.ts';

/** Every list of rules that a file of the folder exports, with the name of its file. */
export async function allRules(): Promise<{ file: string; rules: ProviderRules }[]> {
  const folder = new URL('../rules/', import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
  const found = files.map(async (file) => {
    const exported: Record<string, unknown> = await import(new URL(file, folder).href);
    return Object.values(exported)
      .filter(isProviderRules)
      .map((rules) => ({ file, rules }));
  });
  return (await Promise.all(found)).flat();
}

function isProviderRules(value: unknown): value is ProviderRules {
  return typeof value === 'object' && value !== null && 'rules' in value && 'api' in value;
}
