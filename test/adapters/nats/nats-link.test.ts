import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectNats } from '../../../src/adapters/nats/nats-link.ts';
import type { NodeLink } from '../../../src/ports/node-link.ts';
import { NatsServer } from '../../support/nats/nats-server.ts';
import { freePort } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { SeverableLink } from '../../support/sockets/severable-link.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

let server: NatsServer;
beforeAll(async () => {
  server = await NatsServer.start();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const log = recordingLog();
let clusters = 0;

/** A cluster that no other test hears. */
function newCluster(): string {
  clusters += 1;
  return `c${clusters}`;
}

function open(cluster: string, url = server.url): Promise<NodeLink> {
  return connectNats(url, { log, name: 'a test', cluster });
}

/** Everything that is heard on the subject. */
function hear(link: NodeLink, subject = 's'): string[] {
  const heard: string[] = [];
  link.subscribe(subject, (text) => heard.push(text));
  return heard;
}

/** Publishes until the other one hears it: a subscription takes a moment. */
async function meet(from: NodeLink, heard: string[]): Promise<void> {
  await expect
    .poll(() => {
      from.publish('s', 'hello');
      return heard.length;
    })
    .toBeGreaterThan(0);
  from.publish('s', 'all here');
  await expect.poll(() => heard.at(-1)).toBe('all here');
  heard.length = 0;
}

/** Two nodes of one cluster, of which the second listens. */
async function pair(url = server.url) {
  const cluster = newCluster();
  const one = await open(cluster, url);
  const other = await open(cluster, url);
  const heard = hear(other);
  await meet(one, heard);
  const close = async (): Promise<void> => {
    await one[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  };
  return { cluster, one, other, heard, [Symbol.asyncDispose]: close };
}

describe('nodes that are linked by NATS', () => {
  it('hear each other in the order in which they speak', async () => {
    await using linked = await pair();
    const texts = Array.from({ length: 2_000 }, (_, index) => `text ${index}`);
    for (const text of texts) linked.one.publish('s', text);
    await expect.poll(() => linked.heard.length).toBe(texts.length);
    expect(linked.heard).toEqual(texts);
    expect(linked.one.dropped + linked.other.dropped).toBe(0);
    expect(linked.one.isUp).toBe(true);
  });

  it('do not hear themselves', async () => {
    await using linked = await pair();
    const own = hear(linked.one);
    await meet(linked.other, own);
    linked.one.publish('s', 'mine');
    await expect.poll(() => linked.heard).toContain('mine');
    linked.other.publish('s', 'not mine');
    await expect.poll(() => own).toEqual(['not mine']);
  });

  it('hear nothing of other subjects, nor of other clusters', async () => {
    await using linked = await pair();
    await using stranger = await open(newCluster());
    stranger.publish('s', 'from elsewhere');
    linked.one.publish('u', 'for nobody');
    linked.one.publish('s', 'for them');
    await expect.poll(() => linked.heard).toEqual(['for them']);
  });

  it('hear nothing any more when they have unsubscribed', async () => {
    await using linked = await pair();
    const briefly: string[] = [];
    const stop = linked.other.subscribe('s', (text) => briefly.push(text));
    await meet(linked.one, briefly);
    stop();
    linked.one.publish('s', 'not for this one');
    await expect.poll(() => linked.heard.at(-1)).toBe('not for this one');
    expect(briefly).toEqual([]);
  });

  it('hear long texts whole and in their order, whatever characters they have', async () => {
    await using linked = await pair();
    const texts = [
      '',
      'a'.repeat(1024 * 1024 - 1),
      'b'.repeat(1024 * 1024),
      'é漢😀\n'.repeat(700_000),
      JSON.stringify({ text: '"\\\u0000'.repeat(300_000) }),
      'short',
    ];
    for (const text of texts) linked.one.publish('s', text);
    await expect.poll(() => linked.heard.length).toBe(texts.length);
    expect(linked.heard.map((text, index) => text === texts[index])).toEqual(texts.map(() => true));
  });

  it('go on when one of them hears what no node has said, or cannot take what it hears', async () => {
    await using linked = await pair();
    let mayTake = false;
    linked.other.subscribe('s', () => {
      if (!mayTake) throw new Error('this listener throws');
    });
    const stranger = await connect({ servers: server.url });
    for (const nonsense of ['', '+', '+id 0 99999999999\nx', '+id 7 2\nx'])
      stranger.publish(`agent-service.${linked.cluster}.s`, nonsense);
    await stranger.flush();
    await stranger.close();
    linked.one.publish('s', 'sense');
    await expect.poll(() => linked.heard).toEqual(['sense']);
    mayTake = true;
    linked.one.publish('s', 'more');
    await expect.poll(() => linked.heard).toEqual(['sense', 'more']);
    expect(linked.other.isUp).toBe(true);
  });
});

describe('a NATS server that is away', () => {
  it('drops and counts what is said, and the nodes are told when it is back', async () => {
    await using own = await NatsServer.start();
    await using linked = await pair(own.url);
    let gaps = 0;
    const stop = linked.other.onGap(() => {
      gaps += 1;
    });
    await own.end();
    await expect.poll(() => linked.one.isUp || linked.other.isUp).toBe(false);
    linked.one.publish('s', 'lost');
    linked.one.publish('s', 'lost, too');
    expect(linked.one.dropped).toBe(2);
    expect(gaps).toBe(0);
    await own.run();
    await expect.poll(() => linked.one.isUp && linked.other.isUp).toBe(true);
    expect(gaps).toBe(1);
    // The subscription is there again before the gap is told.
    await meet(linked.one, linked.heard);
    expect(linked.heard).not.toContain('lost');
    stop();
  });

  it('is noticed within a few seconds if it only says nothing any more', async () => {
    await using own = await NatsServer.start();
    await using linked = await pair(own.url);
    process.kill(own.pid, 'SIGSTOP');
    try {
      const begun = performance.now();
      await expect.poll(() => linked.one.isUp).toBe(false);
      expect(performance.now() - begun).toBeLessThan(4_500);
    } finally {
      process.kill(own.pid, 'SIGCONT');
    }
    await expect.poll(() => linked.one.isUp && linked.other.isUp).toBe(true);
    linked.heard.length = 0;
    await meet(linked.one, linked.heard);
  });

  it('is given up if it says nothing any more while much waits to be sent, and another connection is used', async () => {
    await using own = await NatsServer.start();
    await using road = await SeverableLink.to(own.port);
    const cluster = newCluster();
    await using one = await open(cluster, own.url.replace(`:${own.port}`, `:${road.port}`));
    await using other = await open(cluster, own.url);
    const heard = hear(other);
    const answers = hear(one, 'back');
    await meet(one, heard);
    let gaps = 0;
    one.onGap(() => {
      gaps += 1;
    });
    road.muteOpen();
    // More than the sockets on the way take.
    for (let count = 0; count < 24; count += 1) one.publish('s', 'x'.repeat(1_000_000));
    await expect.poll(() => one.isUp).toBe(false);
    await expect.poll(() => one.isUp).toBe(true);
    expect(gaps).toBe(1);
    heard.length = 0;
    await meet(one, heard);
    other.publish('back', 'hello');
    await expect.poll(() => answers).toEqual(['hello']);
    // What waits is counted anew: more than may wait is said.
    const { dropped } = one;
    for (let count = 0; count < 40; count += 1) {
      one.publish('s', `${count} ${'x'.repeat(1_000_000)}`);
      await expect.poll(() => heard.at(-1)?.startsWith(`${count} `)).toBe(true);
    }
    expect(one.dropped).toBe(dropped);
  });

  it.each([
    ['one', 'x'],
    ['three', '日'],
  ])(
    'does not keep more than it may: what is said to one that does not read is dropped (bytes of a character: %s)',
    async (_, character) => {
      await using own = await NatsServer.start();
      await using linked = await pair(own.url);
      process.kill(own.pid, 'SIGSTOP');
      try {
        const text = character.repeat(1_000_000 / Buffer.byteLength(character));
        for (let count = 0; count < 60; count += 1) linked.one.publish('s', text);
        expect(linked.one.dropped).toBeGreaterThan(20);
        expect(linked.one.dropped).toBeLessThan(40);
      } finally {
        process.kill(own.pid, 'SIGCONT');
      }
      linked.heard.length = 0;
      await meet(linked.one, linked.heard);
    },
  );

  it('does not keep a link from being closed', async () => {
    const own = await NatsServer.start();
    const link = await open(newCluster(), own.url);
    await own.end();
    await expect.poll(() => link.isUp).toBe(false);
    const begun = performance.now();
    await link[Symbol.asyncDispose]();
    await link[Symbol.asyncDispose]();
    expect(performance.now() - begun).toBeLessThan(2_000);
    link.publish('s', 'nobody');
    expect(link.dropped).toBe(1);
  });

  it('may be one of several: another one is used', async () => {
    await using own = await NatsServer.start();
    const dead = `nats://127.0.0.1:${await freePort()}`;
    await using linked = await pair(`${dead},${own.url}`);
    linked.one.publish('s', 'hello');
    await expect.poll(() => linked.heard).toEqual(['hello']);
  });
});

describe('a link that is closed', () => {
  it('has sent what was said before', async () => {
    await using linked = await pair();
    const brief = await open(linked.cluster);
    brief.publish('s', 'my last words');
    await brief[Symbol.asyncDispose]();
    await expect.poll(() => linked.heard).toEqual(['my last words']);
    expect(brief.isUp).toBe(false);
  });
});

describe('a NATS server that cannot be used', () => {
  it('refuses a wrong password, and the error names the address and not the password', async () => {
    await using own = await NatsServer.start('--user', 'joe', '--pass', 'right');
    const refused = open('c', own.url.replace('//', '//joe:wr0ng@'));
    await expect(refused).rejects.toThrow(`NATS at ${own.url} refuses the user, password or token of --bus`);
    const error: unknown = await refused.catch((thrown: unknown) => thrown);
    expect(JSON.stringify([String(error), error])).not.toContain('wr0ng');
    await using linked = await pair(own.url.replace('//', '//joe:right@'));
    expect(linked.one.isUp).toBe(true);
  });

  it('takes a token', async () => {
    await using own = await NatsServer.start('--auth', 't0ken');
    await expect(open('c', own.url)).rejects.toThrow('refuses the user, password or token');
    await using linked = await pair(own.url.replace('//', '//t0ken@'));
    expect(linked.one.isUp).toBe(true);
  });

  it('is named if there is none', async () => {
    const url = `nats://127.0.0.1:${await freePort()}`;
    await expect(open('c', url)).rejects.toThrow(`NATS at ${url} cannot be reached`);
  });
});

describe('a user whose permissions are taken away', () => {
  const config = (port: number, permissions: string) =>
    `listen: 127.0.0.1:${port}\nauthorization { users = [{user: a, password: b${permissions}}] }\n`;

  it('hears again when they are back', async () => {
    await using folder = await tempDirectory();
    const file = join(folder.path, 'nats.conf');
    await writeFile(file, 'authorization { users = [{user: a, password: b}] }\n');
    await using strict = await NatsServer.start('-c', file);
    const reload = async (permissions: string): Promise<void> => {
      await writeFile(file, config(strict.port, permissions));
      process.kill(strict.pid, 'SIGHUP');
    };
    await using nodes = await pair(strict.url.replace('//', '//a:b@'));
    const { one, other, heard } = nodes;
    let gaps = 0;
    other.onGap(() => {
      gaps += 1;
    });
    await reload(', permissions: {publish: "none", subscribe: "none"}');
    await expect.poll(() => other.isUp).toBe(false);
    await reload('');
    await expect.poll(() => other.isUp).toBe(true);
    expect(gaps).toBeGreaterThan(0);
    await meet(one, heard);
  });
});
