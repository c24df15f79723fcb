import { spawnSync } from 'node:child_process';
import { findChromium } from '../console/chromium.ts';
import { findNatsServer } from '../nats/nats-server.ts';
import { findPostgres } from '../postgres/postgres-server.ts';

/* Sees to it that the tests have the programs that npm does not bring: root on Debian gets them, others are told how to. */

interface Program {
  readonly name: string;
  /** In Debian. */
  readonly package: string;
  readonly isThere: () => boolean;
  /** Whether what is there will do, but what Debian has is faster. */
  readonly isSlow?: () => boolean;
  readonly howToInstall: string;
}

const programs: readonly Program[] = [
  {
    name: 'Chromium or Chrome',
    package: 'chromium-headless-shell',
    isThere: () => findChromium() !== undefined,
    isSlow: () => process.env.CHROMIUM === undefined && findChromium() === '/usr/bin/chromium',
    howToInstall:
      'Debian: apt-get install chromium-headless-shell; macOS: brew install --cask google-chrome; or say where it is: CHROMIUM=/path/to/chromium npm test',
  },
  {
    name: 'curl',
    package: 'curl',
    isThere: () => spawnSync('curl', ['--version']).status === 0,
    howToInstall: 'Debian: apt-get install curl',
  },
  {
    name: 'nats-server',
    package: 'nats-server',
    isThere: () => findNatsServer() !== undefined,
    howToInstall: 'Debian: apt-get install nats-server; macOS: brew install nats-server',
  },
  {
    name: 'PostgreSQL',
    package: 'postgresql',
    isThere: () => findPostgres() !== undefined,
    howToInstall:
      'Debian: apt-get install postgresql; macOS: brew install postgresql; or put initdb into the PATH',
  },
  {
    name: 'strace',
    package: 'strace',
    // What it looks at are system calls of Linux.
    isThere: () => process.platform !== 'linux' || spawnSync('strace', ['-V']).status === 0,
    howToInstall: 'Debian: apt-get install strace',
  },
];

function install(packages: readonly string[]): void {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || spawnSync('apt-get', ['--version']).status !== 0) return;
  process.stdout.write(`The tests need programs: installing ${packages.join(' and ')} with apt-get.\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['update', '-qq'], { stdio: 'inherit', env });
  // One by one: a system that does not have one of them gets the others.
  for (const name of packages) {
    const args = ['install', '-y', '-qq', '--no-install-recommends', name];
    spawnSync('apt-get', args, { stdio: 'inherit', env });
  }
}

const wanted = programs.filter(({ isThere, isSlow }) => !isThere() || isSlow?.());
if (wanted.length > 0) install(wanted.map((program) => program.package));

for (const { name, howToInstall } of wanted.filter(({ isThere }) => !isThere())) {
  process.stderr.write(`The tests need ${name}, and there is none.\n  ${howToInstall}\n`);
  process.exitCode = 1;
}
