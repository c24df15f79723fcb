import { encodedBytes, type MaxBytes } from '../../core/size-limits.ts';
import type { BodyLimit } from '../../ports/web-server.ts';
import { MCP_PATH } from '../mcp/mcp-path.ts';
import { matchesPattern, type Route } from './router.ts';

/** The limit on the body of a request, by its path. */
export function bodyLimits(
  routes: readonly Route[],
  maxBytes: MaxBytes,
): (path: string) => BodyLimit | false {
  if (maxBytes === false) return () => false;
  const paths = routes.filter((route) => route.takesImages).map(({ path }) => path);
  const fixed = new Set([MCP_PATH, ...paths]);
  const patterns = paths.filter((path) => path.includes('/:')).map((path) => path.split('/'));
  const takesImages = (path: string): boolean => {
    if (fixed.has(path)) return true;
    const segments = path.split('/');
    return patterns.some((pattern) => matchesPattern(pattern, segments));
  };
  return (path) =>
    takesImages(path)
      ? { what: 'a message', maxBytes, readBytes: encodedBytes(maxBytes) }
      : { what: 'a request', maxBytes, readBytes: maxBytes };
}
