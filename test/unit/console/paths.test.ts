import { describe, expect, it } from 'vitest';
import { serverPath, toolPath } from '../../../src/console/service/paths.ts';

describe('a path of the REST interface', () => {
  it('has the names in it encoded', () => {
    expect(toolPath('my server', 'read/file')).toBe('/api/mcp/servers/my%20server/tools/read%2Ffile');
  });

  it('is there for a name with half of a surrogate pair, too', () => {
    expect(serverPath('a\ud800')).toBe('/api/mcp/servers/a%EF%BF%BD');
    expect(toolPath('a', '\udc00')).toBe('/api/mcp/servers/a/tools/%EF%BF%BD');
  });
});
