import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ServerConfig } from '../../../src/config/schema/agent-config.ts';
import { resolveSettings } from '../../../src/config/settings.ts';
import { projectRoot } from '../../support/project/source-imports.ts';

const read = (file: string): string => readFileSync(join(projectRoot, file), 'utf8');
const isThere = (file: string): boolean => existsSync(join(projectRoot, file));

describe('the Dockerfile', () => {
  const dockerfile = read('Dockerfile');
  const copies = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].map(([, files = '']) =>
    files.split(' '),
  );
  const copied = copies.flat();

  it('copies files that are there and that .dockerignore lets through', () => {
    const allowed = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, file = '']) => file);
    expect(copied.length).toBeGreaterThan(8);
    expect(copied.filter((file) => !isThere(file))).toEqual([]);
    expect(copied.filter((file) => !allowed.includes(file.split('/')[0] ?? ''))).toEqual([]);
    expect(allowed.filter((file) => !isThere(file))).toEqual([]);
  });

  it('runs and probes files that it has copied, not as root', () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
    for (const [, file = ''] of last.matchAll(/(?:CMD|ENTRYPOINT) \["node", "([^"]+)"\]/g)) {
      expect(isThere(file)).toBe(true);
      expect(last).toMatch(new RegExp(`^COPY (${file.split('/')[0]}|${file}) `, 'm'));
    }
    expect(last.match(/^(HEALTHCHECK|ENTRYPOINT) /gm)).toHaveLength(2);
    expect(last).toMatch(/^USER node$/m);
  });

  it('takes the port from each variable of the service', () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
    const variables = Object.fromEntries(
      [...last.matchAll(/^(?:ENV| {3}) (\w+)=(\S+)/gm)].map(([, name = '', value = '']) => [name, value]),
    );
    expect(variables).toHaveProperty('AGENT_SERVICE_CONFIG');
    const portWith = (given: Record<string, string>): number =>
      resolveSettings({ flags: { insecure: true }, environment: { ...variables, ...given }, yaml: {} }).port;
    expect(portWith({})).toBe(3001);
    for (const name of ['PORT', 'AGENT_SERVICE_WEB_PORT']) expect(portWith({ [name]: '8080' })).toBe(8080);
  });

  it('has a folder for each npm script that it runs', () => {
    const used = read('package.json').match(/node build\/[\w-]+\.js/g) ?? [];
    expect(used.length).toBeGreaterThan(0);
    expect(copied).toContain('build');
  });
});

describe('the systemd unit', () => {
  const unit = read('ops/agent-service.service');

  it('runs the published command with options and variables that exist', () => {
    const [, file, flag] =
      /^ExecStart=\S+\/node \/opt\/agent-service\/node_modules\/agent-service\/(\S+) (--\w+) /m.exec(unit) ??
      [];
    expect(file).toBe('bin/agent-service.js');
    expect(read('src/cli/cli.ts')).toContain(`, ${flag} <`);
    expect(read('src/config/settings.ts')).toContain(/AGENT_SERVICE_DATA_DIR/.exec(unit)?.[0]);
  });

  it('waits longer for the end than running turns may take', () => {
    const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
    expect(Number(seconds) * 1_000).toBeGreaterThan(ServerConfig.parse({}).drainTimeoutMs + 5_000);
    expect(unit).toMatch(/^KillMode=mixed$/m);
  });
});
