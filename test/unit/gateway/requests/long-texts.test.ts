import { expect, it } from 'vitest';
import { parseFields } from '../../../../src/gateway/requests/request-fields.ts';
import { ConnectServerRequest, RenameRequest } from '../../../../src/wire/requests.ts';

const stdio = (args: readonly string[]) => ({ name: 's', config: { type: 'stdio', command: 'node', args } });

it('the configuration of a tool server is refused if it is too long to be looked through for secrets', () => {
  const refused = expect.objectContaining({
    details: expect.objectContaining({
      field: 'config',
      issue: expect.stringContaining('at most 65536 characters'),
    }),
  });
  expect(parseFields(ConnectServerRequest, stdio(['a'.repeat(60_000)]))).toMatchObject({ name: 's' });
  expect(() => parseFields(ConnectServerRequest, stdio(Array(2_000).fill('a'.repeat(50))))).toThrow(refused);
});

it('a title may have spaces around it and line breaks, and is refused if it is long all the same', () => {
  const title = `${' '.repeat(500)}Plans\n for ${'\n'.repeat(500)} May`;
  expect(parseFields(RenameRequest, { title })).toEqual({ title: 'Plans for May' });
  for (const long of ['a'.repeat(201), ' '.repeat(2_001)])
    expect(() => parseFields(RenameRequest, { title: long })).toThrow('must have at most 200 characters');
});
