import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { refusals } from '../../../src/adapters/jwt/refusal.ts';
import { AuthConfig } from '../../../src/config/schema/auth-config.ts';
import { ConsoleConfig } from '../../../src/config/schema/console-config.ts';
import { ClaimsConfig, JwtIssuerConfig, jwtAlgorithms } from '../../../src/config/schema/jwt-config.ts';
import { ROLES } from '../../../src/core/access/scopes.ts';
import { readDocument } from '../../support/documents/documents.ts';

const page = readDocument('docs/security.md');
const [, tokens = ''] = page.split('\n## Tokens of an identity provider\n');
const section = tokens.split('\n## ')[0] ?? '';

/** The rows of the table under a heading of the section, without their backticks. */
function rows(heading: string): string[][] {
  const part = section.split(`\n### ${heading}\n`)[1]?.split('\n### ')[0] ?? '';
  const lines = part.split('\n').filter((line) => line.startsWith('| `'));
  return lines.map((line) =>
    line.split('|').flatMap((cell, index) => (index === 0 ? [] : [cell.trim().replaceAll('`', '')])),
  );
}

const settings = rows('Settings');
const claimKeys = Object.keys(ClaimsConfig.shape).map((key) => `claims.${key}`);

describe('docs/security.md about the tokens of identity providers', () => {
  it('has examples that the service accepts', () => {
    const examples = [...section.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, yaml = '']) => parse(yaml));
    expect(examples).toHaveLength(2);
    for (const { auth } of examples) expect(AuthConfig.parse(auth).jwt).toHaveLength(1);
  });

  it('describes every setting and no other', () => {
    const keys = Object.keys(JwtIssuerConfig.shape).flatMap((key) => (key === 'claims' ? claimKeys : [key]));
    expect(settings.map(([key]) => key)).toEqual(keys);
  });

  it('tells the defaults as they are', () => {
    const required = { name: 'x', issuer: 'https://x.example.com', audience: 'x' };
    const { claims, ...defaults } = JwtIssuerConfig.parse(required);
    const actual = {
      ...Object.fromEntries(Object.entries(claims).map(([key, value]) => [`claims.${key}`, value])),
      clockSkewSeconds: String(defaults.clockSkewSeconds),
      algorithms: defaults.algorithms.join(', '),
      defaultRoles: JSON.stringify(defaults.defaultRoles),
    };
    const told = Object.fromEntries(settings.map(([key = '', value]) => [key, value]));
    expect(told).toMatchObject(actual);
    for (const key of Object.keys(required)) expect(told[key]).toBe('required');
    const algorithms = settings.find(([key]) => key === 'algorithms')?.join(' ') ?? '';
    for (const algorithm of jwtAlgorithms) expect(algorithms).toContain(algorithm);
  });

  it('lists every reason for a refusal', () => {
    expect(rows('What is checked').map(([reason]) => reason)).toEqual(Object.keys(refusals));
  });
});

describe('docs/security.md about the limits of clients', () => {
  const [, part = ''] = page.split('\n## How much a client may use\n');
  const limits = part.split('\n## ')[0] ?? '';

  it('tells every limit with its defaults, and no other', () => {
    const { principal, tenant } = AuthConfig.parse({}).limits;
    const told = [...limits.matchAll(/^\| `(\w+)` \| (\d+) \| (\d+) \|/gm)];
    expect(told.map(([, key, ofPrincipal]) => [key, Number(ofPrincipal)])).toEqual(Object.entries(principal));
    expect(told.map(([, key, , ofTenant]) => [key, Number(ofTenant)])).toEqual(Object.entries(tenant));
  });

  it('has an example that the service accepts', () => {
    const [, yaml = ''] = /^```yaml\n(.*?)^```$/ms.exec(limits) ?? [];
    expect(AuthConfig.parse(parse(yaml).auth).limits.principal.sessions).toBe(1000);
  });
});

it('docs/security.md lists the built-in roles with their scopes', () => {
  const [, part = ''] = page.split('\n## Who may do what\n');
  const told = [...(part.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)` \| (.*) \|$/gm)];
  expect(told.map(([, role]) => role)).toEqual(Object.keys(ROLES));
});

describe('docs/security.md about signing in to the console', () => {
  const [, part = ''] = page.split('\n## Signing in to the console through an identity provider\n');
  const text = part.split('\n## ')[0] ?? '';

  it('has an example that the service accepts', () => {
    const [, yaml = ''] = /^```yaml\n(.*?)^```$/ms.exec(text) ?? [];
    expect(AuthConfig.parse(parse(yaml).auth).console).toMatchObject({ clientId: 'agent-console' });
  });

  it('describes every setting and no other, with its default', () => {
    const told = [...text.matchAll(/^\| `(\w+)` \| `?(.*?)`? \|/gm)].map(([, key, value]) => [key, value]);
    const required = { issuer: 'https://sso.example.com', clientId: 'c' };
    const defaults = Object.entries(ConsoleConfig.parse(required)).map(([key, value]) => [
      key,
      key in required ? 'required' : typeof value === 'string' ? value : JSON.stringify(value),
    ]);
    expect(told).toEqual(defaults);
  });
});
