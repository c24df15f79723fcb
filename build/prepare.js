// Run by npm after it has changed the packages of a checkout. Plain JavaScript, because it may run on any Node.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const missing = ['typescript', 'vite'].filter((name) => !existsSync(`node_modules/${name}/package.json`));

if (missing.length === 0) {
  const { status } = spawnSync('npm run -s build', { shell: true, stdio: 'inherit' });
  process.exitCode = status ?? 1;
} else {
  // After `npm ci --omit=dev`: the service then needs a dist/ from elsewhere.
  process.stderr.write(
    `agent-service: nothing was built, because ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not installed. ` +
      'For a build run `npm ci`.\n',
  );
}
