// Run by `npm ci` and `npm pack`. Plain JavaScript, because it may run on any Node.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const missing = ['typescript', 'vite'].filter((name) => !existsSync(`node_modules/${name}/package.json`));

if (missing.length === 0) {
  const { status } = spawnSync('npm run -s build', { shell: true, stdio: 'inherit' });
  process.exitCode = status ?? 1;
} else {
  // After `npm ci --omit=dev`, which is right for a checkout whose dist/ comes from elsewhere.
  process.stderr.write(
    `agent-service: nothing was built, because ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not installed. ` +
      'A checkout runs from its sources without a build. For the console and the package run `npm ci`.\n',
  );
}
