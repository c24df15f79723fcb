import { readFileSync, writeFileSync } from 'node:fs';
import { withCharts } from './docs-charts.ts';

/* `npm run docs`: draws the statecharts of docs/architecture.md anew. */
const document = new URL('../../../docs/architecture.md', import.meta.url);
writeFileSync(document, withCharts(readFileSync(document, 'utf8')));
