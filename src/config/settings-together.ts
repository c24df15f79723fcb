import { isLoopbackHost } from '../core/host-literal.ts';
import { type Given, SettingsError } from './given.ts';

interface Combined {
  readonly mode: string;
  readonly transport: string;
  readonly host: string;
  readonly store: string | undefined;
  readonly bus: string | undefined;
  readonly standby: boolean;
  readonly insecure: boolean;
}

/** What has set the settings that errors name. */
export type SettingNames = Readonly<
  Record<'transport' | 'host' | 'bus' | 'standby', Pick<Given, 'name'> | undefined>
>;

/** Throws a `SettingsError` if the settings do not fit together. @param hasAuth whether clients are authenticated. */
export function checkTogether(settings: Combined, names: SettingNames, hasAuth: boolean): void {
  checkTransport(settings, names);
  checkStore(settings, names);
  if (!hasAuth) checkExposure(settings, names);
}

function checkTransport({ transport, mode }: Combined, names: SettingNames): void {
  if (transport !== 'stdio' || mode === 'mcp') return;
  throw new SettingsError(
    `${names.transport?.name}: found "stdio" in ${mode} mode; expected --mode mcp with it`,
  );
}

function checkStore({ store, bus, standby }: Combined, names: SettingNames): void {
  if (standby && store === undefined)
    throw new SettingsError(`${names.standby?.name}: there is nothing to wait for without --store`);
  if (bus !== undefined && store === undefined)
    throw new SettingsError(
      `${names.bus?.name}: there is nothing to share without --store postgres://…: several services need one database for the log`,
    );
  if (bus !== undefined && standby)
    throw new SettingsError(
      `${names.standby?.name}: it waits until no other service has the log, and with ${names.bus?.name} all of them have it. Leave one of the two out`,
    );
}

/** Refuses to let other machines reach a service that authenticates nobody. */
function checkExposure({ host, insecure, transport }: Combined, names: SettingNames): void {
  if (insecure || transport === 'stdio' || isLoopbackHost(host)) return;
  throw new SettingsError(
    `${names.host?.name}: found "${host}", which other machines can reach, and nobody is authenticated: whoever reaches the port could read every conversation and start processes. Do one of these: set auth in a service file (--config service.yml with "auth: {apiKeys: true}"), listen on 127.0.0.1, or start with --insecure if something else keeps strangers out`,
  );
}
