import { describe, expect, it } from 'vitest';
import { contentHash } from '../../../src/core/content-hash.ts';
import { ApprovalConfig, approvalPolicy } from '../../../src/core/tool-call/approval-policy.ts';

const policyOf = (config: unknown, serverId: string, toolName: string) =>
  approvalPolicy(ApprovalConfig.parse(config), { serverId, toolName });

describe('the approval policy of a tool', () => {
  it('is auto where the agent file says nothing', () => {
    expect(policyOf({}, 'files', 'read')).toBe('auto');
  });

  it('is that of the first rule that matches, else the default', () => {
    const config = {
      rules: [
        { server: 'files', tool: 'read_*', policy: 'auto' },
        { server: 'files', policy: 'ask' },
        { tool: '*delete*', policy: 'deny' },
      ],
      default: 'ask',
    };
    expect(policyOf(config, 'files', 'read_file')).toBe('auto');
    expect(policyOf(config, 'files', 'delete_file')).toBe('ask');
    expect(policyOf(config, 'db', 'delete')).toBe('deny');
    expect(policyOf(config, 'db', 'query')).toBe('ask');
  });

  it.each([
    ['*', 'any-thing.at/all', true],
    ['get-*', 'get-', true],
    ['get-*', 'forget-it', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['a?c', 'a💡c', true],
    ['a.c', 'abc', false],
    ['a[bc]', 'ab', false],
    ['(a|b)+', '(a|b)+', true],
    ['*a*b*', 'xxaxxbxx', true],
    ['Get', 'get', false],
  ])('matches %s against %s: %s', (tool, name, matches) => {
    expect(policyOf({ rules: [{ tool, policy: 'deny' }] }, 's', name)).toBe(matches ? 'deny' : 'auto');
  });

  it('refuses a policy there is not', () => {
    expect(ApprovalConfig.safeParse({ rules: [{ tool: 'x', policy: 'maybe' }] }).success).toBe(false);
  });
});

describe('the hash of arguments', () => {
  // Computed with: printf '%s' '{"a":{"x":[1,null,"é"]},"b":2}' | sha256sum
  const known = '4b4a390e22519a0e3c1c58c6920655936ae3f019b4b4f62aaacb14942d2fc477';

  it('is the SHA-256 of their canonical JSON, whatever the order of the keys', async () => {
    expect(await contentHash({ b: 2, a: { x: [1, null, 'é'] } })).toBe(known);
    expect(await contentHash({ a: { x: [1, null, 'é'] }, b: 2 })).toBe(known);
    expect(await contentHash({ a: { x: [null, 1, 'é'] }, b: 2 })).not.toBe(known);
  });

  it('orders keys by code unit, also those that look like numbers', async () => {
    // printf '%s' '{"10":1,"9":2,"a":3}' | sha256sum
    expect(await contentHash({ a: 3, 9: 2, 10: 1 })).toBe(
      'd6e62753b8541dd53e8db28349f1b082a93958576574f1b34b4fd86fbbd78916',
    );
  });
});
