import { spawnSync } from 'node:child_process';
import { findChromium } from './chromium.ts';

/* Sees to it that the tests of the page have a browser: root on Debian gets one, others are told how to. */

function install(): boolean {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || spawnSync('apt-get', ['--version']).status !== 0) return false;
  process.stdout.write('The tests of the page need Chromium: installing it with apt-get.\n');
  const commands = [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', 'chromium'],
  ];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return commands.every((args) => spawnSync('apt-get', args, { stdio: 'inherit', env }).status === 0);
}

if (findChromium() === undefined && !install()) {
  process.stderr.write(
    [
      'The tests of the page need Chromium or Chrome, and none was found.',
      'Install it (Debian: apt-get install chromium; macOS: brew install --cask google-chrome),',
      'or say where it is: CHROMIUM=/path/to/chromium npm test',
      '',
    ].join('\n'),
  );
  process.exitCode = 1;
}
