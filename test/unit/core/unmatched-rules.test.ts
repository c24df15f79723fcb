import { describe, expect, it } from 'vitest';
import { ApprovalConfig } from '../../../src/core/tool-call/approval-policy.ts';
import { type KnownServer, unmatchedRules } from '../../../src/core/tool-call/unmatched-rules.ts';

const files: KnownServer = { name: 'files', tools: ['read_file', 'write_file'] };
const down: KnownServer = { name: 'down', tools: null };

const reasonsOf = (rules: object[], servers: readonly KnownServer[]) =>
  unmatchedRules(ApprovalConfig.parse({ rules }), servers).map(({ reason }) => reason);

describe('an approval rule that decides about nothing', () => {
  it('is told with its place and what the server offers', () => {
    const rules = [
      { server: 'files', tool: 'write_*', policy: 'ask' },
      { server: 'files', tool: 'wirte_*', policy: 'ask' },
    ];
    expect(unmatchedRules(ApprovalConfig.parse({ rules }), [files])).toEqual([
      {
        index: 1,
        reason:
          'approval.rules[1] (server: files, tool: wirte_*, policy: ask) matches none of the 2 tools of files: read_file, write_file',
      },
    ]);
  });

  it('is told with the beginning of a long list of tools', () => {
    const tools = Array.from({ length: 12 }, (_, index) => `t${index}`);
    expect(reasonsOf([{ server: 'many', tool: 'x', policy: 'deny' }], [{ name: 'many', tools }])).toEqual([
      'approval.rules[0] (server: many, tool: x, policy: deny) matches none of the 12 tools of many: t0, t1, t2, t3, t4, t5, t6, t7, t8, t9 and 2 more',
    ]);
  });

  it('is told when no connected server offers its tool', () => {
    expect(
      reasonsOf([{ tool: 'remove', policy: 'deny' }], [files, { name: 'db', tools: ['query'] }]),
    ).toEqual([
      'approval.rules[0] (server: *, tool: remove, policy: deny) matches none of the 3 tools of files, db: read_file, write_file, query',
    ]);
    expect(reasonsOf([{ tool: 'query', policy: 'deny' }], [files, { name: 'db', tools: ['query'] }])).toEqual(
      [],
    );
  });

  it('is told when its pattern matches no server', () => {
    expect(reasonsOf([{ server: 'flies*', policy: 'ask' }], [files, down])).toEqual([
      'approval.rules[0] (server: flies*, tool: *, policy: ask) matches none of the tool servers: files, down',
    ]);
    expect(reasonsOf([{ server: 'flies*', policy: 'ask' }], [])).toEqual([
      'approval.rules[0] (server: flies*, tool: *, policy: ask) matches none of the tool servers: there is none',
    ]);
  });

  it.each([
    ['a server that is not connected', { server: 'down', tool: 'x', policy: 'ask' }, [files, down]],
    ['any server while none is there', { tool: 'x', policy: 'ask' }, []],
    ['a server that comes later', { server: 'late', policy: 'ask', atRunTime: true }, [files]],
    ['servers that come later', { server: 'late*', policy: 'ask', atRunTime: true }, [files]],
  ])('is not told of for %s', (_case, rule, servers) => {
    expect(reasonsOf([rule], servers)).toEqual([]);
  });
});
