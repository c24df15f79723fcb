// tsc does not delete the output of sources that are gone, and npm would publish it.
import { rmSync } from 'node:fs';

rmSync('dist/src', { recursive: true, force: true });
