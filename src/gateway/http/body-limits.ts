import { encodedBytes, type MaxBytes } from '../../core/size-limits.ts';
import type { BodyLimit } from '../../ports/web-server.ts';
import { MCP_PATH } from '../mcp/mcp-path.ts';
import type { Route } from './router.ts';

/** The limit on the body of a request, by its path. */
export function bodyLimits(
  routes: readonly Route[],
  maxBytes: MaxBytes,
): (path: string) => BodyLimit | false {
  if (maxBytes === false) return () => false;
  const withImages = new Set([
    MCP_PATH,
    ...routes.filter((route) => route.takesImages).map(({ path }) => path),
  ]);
  return (path) =>
    withImages.has(path)
      ? { what: 'a message', maxBytes, readBytes: encodedBytes(maxBytes) }
      : { what: 'a request', maxBytes, readBytes: maxBytes };
}
