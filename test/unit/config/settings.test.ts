import { describe, expect, it } from 'vitest';
import { SettingsError } from '../../../src/config/given.ts';
import { AuthConfig } from '../../../src/config/schema/auth-config.ts';
import { resolveSettings, type SettingsSources } from '../../../src/config/settings.ts';

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
    const flags = { webPort: '1', insecure: true };
    const environment = { AGENT_SERVICE_WEB_PORT: '2', AGENT_SERVICE_HOST: '::2' };
    const yaml = { port: 3, host: '::3', dataDir: ':memory:' };
    expect(resolve({ flags, environment, yaml })).toMatchObject({
      port: 1,
      host: '::2',
      dataDir: ':memory:',
    });
    const insecure = { flags: { insecure: true } };
    expect(resolve({ ...insecure, environment, yaml })).toMatchObject({ port: 2 });
    expect(resolve({ ...insecure, yaml })).toMatchObject({ port: 3, host: '::3' });
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

  it('take an IPv6 address in brackets, too', () => {
    expect(resolve({ flags: { host: '[::1]' } }).host).toBe('::1');
    expect(resolve({ yaml: { host: '[::1]' } }).host).toBe('::1');
    expect(() => resolve({ flags: { host: '[::2]' } })).toThrow('which other machines can reach');
  });

  it.each(['127.0.0.1:80', '[::1]:80', 'http://127.0.0.1'])(
    'have the port apart from the host: %s',
    (host) => {
      expect(() => resolve({ flags: { host } })).toThrow(
        `--host: found "${host}"; expected an address such as 127.0.0.1 or ::1 alone; --web-port sets the port`,
      );
    },
  );

  it('stand by only for a database', () => {
    const store = 'postgres://db/agents';
    expect(resolve({ flags: { standby: true, store } })).toMatchObject({ standby: true, store });
    expect(resolve({ environment: { AGENT_SERVICE_STANDBY: '1' }, service: { store } }).standby).toBe(true);
    expect(() => resolve({ flags: { standby: true } })).toThrow(
      '--standby: there is nothing to wait for without --store',
    );
    expect(() => resolve({ environment: { AGENT_SERVICE_STANDBY: '1' } })).toThrow(
      new SettingsError('AGENT_SERVICE_STANDBY: there is nothing to wait for without --store'),
    );
  });

  const DATABASE = 'postgres://db/agents';
  const NATS = 'nats://bus';

  it.each<[string, Partial<SettingsSources>]>([
    ['--bus', { flags: { bus: NATS } }],
    ['AGENT_SERVICE_BUS', { environment: { AGENT_SERVICE_BUS: NATS } }],
    ['bus of the service file', { service: { bus: NATS } }],
  ])('share nothing over %s without a database, nor stand by', (name, sources) => {
    expect(() => resolve(sources)).toThrow(`${name}: there is nothing to share without --store`);
    const environment = { ...sources.environment, AGENT_SERVICE_STORE: DATABASE };
    expect(resolve({ ...sources, environment })).toMatchObject({ bus: NATS, store: DATABASE });
    const standsBy = { ...sources, environment: { ...environment, AGENT_SERVICE_STANDBY: '1' } };
    expect(() => resolve(standsBy)).toThrow(
      `AGENT_SERVICE_STANDBY: it waits until no other service has the log, and with ${name} all of them have it`,
    );
  });

  it.each<[string, Partial<SettingsSources>]>([
    ['--host', { flags: { host: '0.0.0.0' } }],
    ['AGENT_SERVICE_HOST', { environment: { AGENT_SERVICE_HOST: '0.0.0.0' } }],
    ['server.host of the agent file', { yaml: { host: '0.0.0.0' } }],
  ])('let other machines in by %s only with authentication, or insecurely', (name, sources) => {
    expect(() => resolve(sources)).toThrow(`${name}: found "0.0.0.0", which other machines can reach`);
    const auth = AuthConfig.parse({ apiKeys: true });
    expect(resolve({ ...sources, service: { auth } }).host).toBe('0.0.0.0');
    const flags = { ...sources.flags, insecure: true };
    expect(resolve({ ...sources, flags }).host).toBe('0.0.0.0');
  });

  it.each<[string, Partial<SettingsSources>]>([
    ['--store', { flags: { store: 'mysql://u:s3cret@db' } }],
    ['AGENT_SERVICE_STORE', { environment: { AGENT_SERVICE_STORE: 'mysql://u:s3cret@db' } }],
    ['--bus', { flags: { bus: 'http://u:s3cret@bus' } }],
    ['AGENT_SERVICE_BUS', { environment: { AGENT_SERVICE_BUS: 'http://u:s3cret@bus' } }],
  ])('refuse in %s what is no address of its kind, and do not repeat it', (name, sources) => {
    const wrong = () => resolve(sources);
    expect(wrong).toThrow(new RegExp(`^${name}: the .* must be .*(postgres|nats)://`));
    expect(wrong).not.toThrow(/s3cret/);
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
