import { readFileSync, writeFileSync } from 'node:fs';
import { withCharts } from './readme-charts.ts';

/* `npm run docs`: draws the statecharts of the README anew. */
const readme = new URL('../../README.md', import.meta.url);
writeFileSync(readme, withCharts(readFileSync(readme, 'utf8')));
