import { describe, expect, it } from 'vitest';
import { resolveSettings, SettingsError, type SettingsSources } from '../../../src/config/settings.ts';

const resolve = (sources: Partial<SettingsSources>) =>
  resolveSettings({ flags: {}, environment: {}, yaml: {}, ...sources });

describe('settings', () => {
  it('have a default each', () => {
    expect(resolve({})).toEqual({
      mode: 'web',
      transport: 'http',
      port: 3001,
      host: '127.0.0.1',
      dataDir: './.agent-service',
      logLevel: 'info',
      insecure: false,
      standby: false,
    });
  });

  it('are taken from a flag before the environment, and from that before the agent file', () => {
    const flags = { webPort: '1' };
    const environment = { AGENT_SERVICE_WEB_PORT: '2', AGENT_SERVICE_HOST: '::2' };
    const yaml = { port: 3, host: '::3', dataDir: ':memory:' };
    expect(resolve({ flags, environment, yaml })).toMatchObject({
      port: 1,
      host: '::2',
      dataDir: ':memory:',
    });
    expect(resolve({ environment, yaml })).toMatchObject({ port: 2 });
    expect(resolve({ yaml })).toMatchObject({ port: 3, host: '::3' });
  });

  it('have a flag each', () => {
    const flags = {
      mode: 'mcp',
      transport: 'stdio',
      webPort: '0',
      host: '::',
      dataDir: 'd',
      logLevel: 'debug',
      insecure: true,
      standby: false,
    };
    expect(resolve({ flags })).toEqual({
      mode: 'mcp',
      transport: 'stdio',
      port: 0,
      host: '::',
      dataDir: 'd',
      logLevel: 'debug',
      insecure: true,
      standby: false,
    });
  });

  it('have a variable each', () => {
    const environment = {
      AGENT_SERVICE_MODE: 'mcp',
      AGENT_SERVICE_TRANSPORT: 'stdio',
      AGENT_SERVICE_WEB_PORT: '9',
      AGENT_SERVICE_HOST: '::',
      AGENT_SERVICE_DATA_DIR: ':memory:',
      AGENT_SERVICE_LOG_LEVEL: 'silent',
      AGENT_SERVICE_INSECURE: '1',
    };
    expect(resolve({ environment })).toEqual({
      mode: 'mcp',
      transport: 'stdio',
      port: 9,
      host: '::',
      dataDir: ':memory:',
      logLevel: 'silent',
      insecure: true,
      standby: false,
    });
  });

  it('take PORT after the variable of their own', () => {
    expect(resolve({ environment: { PORT: '5' } }).port).toBe(5);
    expect(resolve({ environment: { PORT: '5', AGENT_SERVICE_WEB_PORT: '6' } }).port).toBe(6);
  });

  it('count an empty variable as not set', () => {
    expect(
      resolve({ environment: { AGENT_SERVICE_WEB_PORT: '', PORT: '5', AGENT_SERVICE_MODE: '' } }),
    ).toMatchObject({
      port: 5,
      mode: 'web',
    });
  });

  it.each(['65536', '-1', '80.5', '0x50', 'abc', '', ' 80', '1e3', '99999999999'])(
    'refuse %j as a port',
    (webPort) => {
      expect(() => resolve({ flags: { webPort } })).toThrow(
        new SettingsError(
          `--web-port: found ${JSON.stringify(webPort)}; expected a port from 0 to 65535, where 0 takes a free one`,
        ),
      );
    },
  );

  it('name the variable that is wrong', () => {
    expect(() => resolve({ environment: { PORT: 'x' } })).toThrow('PORT: found "x"; expected a port');
    expect(() => resolve({ environment: { AGENT_SERVICE_LOG_LEVEL: 'inof' } })).toThrow(
      'AGENT_SERVICE_LOG_LEVEL: found "inof"; expected one of debug, info, warn, error, silent; did you mean "info"?',
    );
  });

  it('name the flag that is wrong', () => {
    expect(() => resolve({ flags: { mode: 'wbe' } })).toThrow(
      '--mode: found "wbe"; expected one of web, mcp; did you mean "web"?',
    );
    expect(() => resolve({ flags: { host: '' } })).toThrow(
      '--host: found ""; expected an address such as 127.0.0.1',
    );
    expect(() => resolve({ flags: { dataDir: ' ' } })).toThrow(
      '--data-dir: found " "; expected a folder, or :memory:',
    );
  });

  it('stand by only for a database', () => {
    const store = 'postgres://db/agents';
    expect(resolve({ flags: { standby: true, store } })).toMatchObject({ standby: true, store });
    expect(resolve({ environment: { AGENT_SERVICE_STANDBY: '1' }, service: { store } }).standby).toBe(true);
    expect(() => resolve({ flags: { standby: true } })).toThrow(
      '--standby: there is nothing to wait for without --store',
    );
  });

  it('allow the stdio transport only in mcp mode', () => {
    const message = 'found "stdio" in web mode; expected --mode mcp with it';
    expect(() => resolve({ flags: { transport: 'stdio' } })).toThrow(`--transport: ${message}`);
    expect(() => resolve({ environment: { AGENT_SERVICE_TRANSPORT: 'stdio' } })).toThrow(
      `AGENT_SERVICE_TRANSPORT: ${message}`,
    );
    expect(resolve({ flags: { transport: 'stdio', mode: 'mcp' } }).transport).toBe('stdio');
  });
});
