import { STATUS_CODES } from 'node:http';
import { expect, it } from 'vitest';
import { statusLine } from '../../../src/adapters/uws/status-line.ts';
import { errorCatalogue } from '../../../src/wire/error-catalogue.ts';

const served = [200, 202, 204, 304, 405, 406, 413, 415];

it('says the reasons that Node says, for every status of the catalogue and of the protocols', () => {
  const statuses = [...served, ...Object.values(errorCatalogue).map(({ status }) => status)];
  for (const status of statuses) expect(statusLine(status)).toBe(`${status} ${STATUS_CODES[status]}`);
});

it('gives a status that it does not know no reason', () => {
  expect(statusLine(299)).toBe('299 ');
});
