// Makes dist/. With --unless-built, only if it was not made from the present sources.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { digestOfSources, isBuilt, noteBuild } from './built-from.js';

const root = fileURLToPath(new URL('..', import.meta.url));

if (!process.argv.includes('--unless-built') || !isBuilt(root)) {
  // Computed before the build reads the sources: a change during the build then makes the build outdated.
  const digest = digestOfSources(root);
  const build = 'npm run -s build:server && npm run -s build:console';
  const { status } = spawnSync(build, { cwd: root, shell: true, stdio: 'inherit' });
  if (status === 0) noteBuild(root, digest);
  else process.exitCode = status ?? 1;
}
