import { readDocument } from '../documents/documents.ts';

/** What the Dockerfile and the documents promise to whoever runs the image. */
export const imageFacts = {
  version: String(JSON.parse(readDocument('package.json')).version),
  port: Number(/^EXPOSE (\d+)$/m.exec(readDocument('Dockerfile'))?.[1]),
  dataDir: /AGENT_SERVICE_DATA_DIR=(\S+)/.exec(readDocument('Dockerfile'))?.[1] ?? '',
  /** As docs/operations.md names them. */
  variables: new Set(readDocument('docs/operations.md').match(/AGENT_SERVICE_[A-Z_]+/g)),
  paths: new Set(
    [...readDocument('docs/operations.md').matchAll(/^\| `GET (\/\w+)` \|/gm)].map(([, path]) => path),
  ),
  flags: new Set(
    [...readDocument('docs/operations.md').matchAll(/^\| `(--[a-z-]+)/gm)].map(([, flag]) => flag),
  ),
  /** The oldest major version of PostgreSQL. */
  postgres: Number(/PostgreSQL (\d+) or newer/.exec(readDocument('docs/postgresql.md'))?.[1]),
};

/** Variables of the service that it does not know. */
export function unknownVariables(names: readonly string[]): string[] {
  return names.filter((name) => name.startsWith('AGENT_SERVICE_') && !imageFacts.variables.has(name));
}
