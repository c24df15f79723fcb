import { mkdirSync, writeFileSync } from 'node:fs';
import * as longSession from './long-session.ts';
import * as sync from './sync.ts';

/* npm run bench [-- NAME…] [-- --quick]: runs the benches, prints a table each, writes JSON to bench/results. */
const benches = { sync, 'long-session': longSession };

const args = process.argv.slice(2);
const quick = args.includes('--quick');
const wanted = args.filter((arg) => arg !== '--quick');
const unknown = wanted.filter((name) => !(name in benches));
if (unknown.length > 0) {
  process.stderr.write(
    `unknown bench: ${unknown.join(', ')}; there are: ${Object.keys(benches).join(', ')}\n`,
  );
  process.exit(1);
}

const results = new URL('results/', import.meta.url);
mkdirSync(results, { recursive: true });
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stdout.write(`\n${name}: ${bench.question}\n`);
  const rows = await bench.run({ quick });
  writeFileSync(
    new URL(`${name}.json`, results),
    `${JSON.stringify({ name, quick, node: process.version, rows }, null, 2)}\n`,
  );
  // biome-ignore lint/suspicious/noConsole: the table is the output of this program
  console.table(rows);
}
