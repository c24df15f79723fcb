import { describe, expect, it } from 'vitest';
import { errorCatalogue } from '../../../src/wire/error-catalogue.ts';
import { withCharts } from '../../support/documents/docs-charts.ts';
import { readDocument } from '../../support/documents/documents.ts';

describe('docs/architecture.md', () => {
  it('shows the statecharts as the machines are (npm run docs draws them anew)', () => {
    const architecture = readDocument('docs/architecture.md');
    expect(architecture).toBe(withCharts(architecture));
  });
});

describe('docs/protocol.md', () => {
  it('lists exactly the errors of the catalogue, with their status', () => {
    const rows = [
      ...readDocument('docs/protocol.md').matchAll(/^\| `([A-Z_]+)` \| (\d{3}) \| (.+?) \|$/gm),
    ].map(([, code, status, condition]) => [code, { status: Number(status), condition }]);
    expect(Object.fromEntries(rows)).toEqual(errorCatalogue);
    expect(rows).toHaveLength(Object.keys(errorCatalogue).length);
  });
});
