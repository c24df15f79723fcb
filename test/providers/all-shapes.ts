import { readdirSync } from 'node:fs';
import type { ProviderShapes } from './wire-shape.ts';

/** Every list of shapes that a file of this folder exports, with the name of its file. */
export async function allShapes(): Promise<{ file: string; shapes: ProviderShapes }[]> {
  const folder = new URL('./shapes/', import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
  const found = files.map(async (file) => {
    const exported: Record<string, unknown> = await import(new URL(file, folder).href);
    return Object.values(exported)
      .filter(isProviderShapes)
      .map((shapes) => ({ file, shapes }));
  });
  return (await Promise.all(found)).flat();
}

function isProviderShapes(value: unknown): value is ProviderShapes {
  return typeof value === 'object' && value !== null && 'shapes' in value && 'api' in value;
}
