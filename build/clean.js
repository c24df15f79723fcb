// tsc leaves what it built of files that are gone, and npm would publish it.
import { rmSync } from 'node:fs';

for (const folder of ['src', 'server']) rmSync(`dist/${folder}`, { recursive: true, force: true });
