import { expect, test } from 'vitest';
import { serverEnvironment } from '../../../src/adapters/mcp/stdio/server-environment.ts';

test('passes on the allowed names and nothing else', () => {
  const environment = { HOME: '/home/me', USER: 'me', AWS_SECRET_ACCESS_KEY: 'x', TERM: undefined };
  expect(serverEnvironment({ environment, binFolders: [] }, {}, 'linux')).toEqual({
    HOME: '/home/me',
    USER: 'me',
    PATH: '',
  });
});

test('passes on no exported shell function', () => {
  const environment = { SHELL: '() { :; }; echo owned', PATH: '/bin' };
  expect(serverEnvironment({ environment, binFolders: [] }, {}, 'linux')).toEqual({ PATH: '/bin' });
});

test('looks for commands on the configured path first, then in the folders of the service', () => {
  const surroundings = { environment: { PATH: '/bin' }, binFolders: ['/app/bin', '/bin2'] };
  expect(serverEnvironment(surroundings, {}, 'linux').PATH).toBe('/bin:/app/bin:/bin2');
  expect(serverEnvironment(surroundings, { PATH: '/mine' }, 'linux').PATH).toBe('/mine:/app/bin:/bin2');
});

test('knows the variables of Windows by any case', () => {
  const surroundings = {
    environment: { Path: 'C:\\Windows', SystemRoot: 'C:\\Windows' },
    binFolders: ['D:\\bin'],
  };
  expect(serverEnvironment(surroundings, { Token: 'x' }, 'win32')).toEqual({
    PATH: 'C:\\Windows;D:\\bin',
    SYSTEMROOT: 'C:\\Windows',
    Token: 'x',
  });
});
