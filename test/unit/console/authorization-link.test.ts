import { describe, expect, it } from 'vitest';
import { authorizationLink } from '../../../src/console/servers/authorization-link.ts';

const linkTo = (authorizationUrl: string) => authorizationLink({ details: { authorizationUrl } });

describe('the link to an authorization server', () => {
  it('is there for pages only', () => {
    expect(authorizationLink({})).toBeNull();
    expect(linkTo('https://login.example.com/authorize?state=a')).toBe(
      'https://login.example.com/authorize?state=a',
    );
    expect(linkTo('http://127.0.0.1:9/authorize')).toBe('http://127.0.0.1:9/authorize');
    for (const url of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'no address'])
      expect(linkTo(url)).toBeNull();
  });
});
