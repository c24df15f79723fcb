import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCatalogue } from '../../src/wire/error-catalogue.ts';
import { withCharts } from '../support/readme-charts.ts';
import { projectRoot } from '../support/source-imports.ts';

const readme = readFileSync(join(projectRoot, 'README.md'), 'utf8');

describe('the README', () => {
  it('shows the statecharts as the machines are (npm run docs draws them anew)', () => {
    expect(readme).toBe(withCharts(readme));
  });

  it('lists exactly the errors of the catalogue, with their status', () => {
    const rows = [...readme.matchAll(/^\| `([A-Z_]+)` \| (\d{3}) \| (.+?) \|$/gm)].map(
      ([, code, status, condition]) => [code, { status: Number(status), condition }],
    );
    expect(Object.fromEntries(rows)).toEqual(errorCatalogue);
    expect(rows).toHaveLength(Object.keys(errorCatalogue).length);
  });

  it('names no file that is not there', async () => {
    const { existsSync } = await import('node:fs');
    const links = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) => path ?? '');
    expect(links.length).toBeGreaterThan(3);
    expect(links.filter((path) => !existsSync(join(projectRoot, path)))).toEqual([]);
  });
});
