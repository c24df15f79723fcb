import { z } from 'zod';

const place = z
  .string()
  .min(1)
  .refine(
    (text) => !/^[a-z][a-z0-9+.-]+:/i.test(text) || (/^file:\/\//i.test(text) && URL.canParse(text)),
    'must be a path, or a file:// URI',
  );

/** A folder or a file that tool servers may work in: a path or a `file://` URI, with a name or without. */
export const RootConfig = z.union(
  [place, z.strictObject({ uri: place, name: z.string().min(1).optional() })],
  {
    error: 'must be a path, a file:// URI, or an object with uri and name',
  },
);
export type RootConfig = z.infer<typeof RootConfig>;

/** As MCP has it. */
export interface Root {
  readonly uri: string;
  readonly name?: string;
}

/** @param fileUrl makes a `file://` URI of a path. */
export function rootOf(config: RootConfig, fileUrl: (path: string) => string): Root {
  const { uri, name } = typeof config === 'string' ? { uri: config, name: undefined } : config;
  return { uri: /^file:/i.test(uri) ? uri : fileUrl(uri), ...(name !== undefined && { name }) };
}
